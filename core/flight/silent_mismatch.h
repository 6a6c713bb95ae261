#pragma once

#include <optional>

#include "core/flight/fleet.h"
#include "core/flight/verdict.h"

namespace muster {

// Collectives that ended although their members called different things: NCCL does not compare,
// and equal byte counts go through with garbage. The first one that all members finished.
std::optional<FlightVerdict> find_silent_mismatch(const FlightFleet& fleet);

}  // namespace muster
