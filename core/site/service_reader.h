#pragma once

#include "core/site/site_text.h"

namespace muster {

// systemctl, whose bullet may be "●", "○", "×", "*" or gone:
//
//   ● nvidia-fabricmanager.service - NVIDIA fabric manager service     systemctl status
//        Active: inactive (dead) since ...
//   Unit nvidia-imex.service could not be found.
//   UNIT  LOAD  ACTIVE  SUB  DESCRIPTION                               systemctl list-units
//   $ systemctl is-active nvidia-fabricmanager                         with its answer below
//
// The name has no ".service". A status claims its lines up to the next blank one after its details.
void read_services(SiteText& text);

}  // namespace muster
