#pragma once

#include <string>

#include "core/model/fleet_view.h"

namespace muster {

// When what is shown was so: "14:02:05 UTC", or "RECORDED 2026-11-02 14:02:05 UTC, 28 d 3 h ago"
// where the newest value is minutes old: nobody shall take it for now. "time unknown" where no
// row told one.
std::string moment_text(const FleetView& view);

}  // namespace muster
