#pragma once

#include <optional>

#include "core/flight/fleet.h"
#include "core/flight/verdict.h"

namespace muster {

// Nothing hangs: is one rank nearly always the last to come? Told from durations: who comes last
// spends the least time inside, whatever the clocks say. Without durations (timing off) the times
// of issue are compared; a constant lead of one host's clock looks the same, so that is low
// confidence.
std::optional<FlightVerdict> find_straggler(const FlightFleet& fleet);

}  // namespace muster
