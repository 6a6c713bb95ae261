#pragma once

#include "core/site/site_text.h"

namespace muster {

// lspci -t, with names where -v was given:
//
//   -[0000:00]-+-00.0  Intel Corporation Device 09a2
//              +-03.0-[04]----00.0  NVIDIA Corporation GH100
//              \-05.0-[05-0a]----00.0-[06-0a]--+-00.0-[07]----00.0
//                                              \-01.0-[08]--
//
// One fact for each device behind a port; the port is the bridge next to it.
void read_pci_tree(SiteText& text);

}  // namespace muster
