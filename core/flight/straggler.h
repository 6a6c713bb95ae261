#pragma once

#include <optional>

#include "core/flight/fleet.h"
#include "core/flight/verdict.h"

namespace muster {

// Nothing hangs: is one rank nearly always the last to come, in every group in which it is? Told
// from durations: who comes last spends the least time inside, whatever the clocks say. Without
// durations (timing off) the times of issue are compared, less what the clocks differ by at the
// ends that all members share; that is known to 200 ms only, and is low confidence.
std::optional<FlightVerdict> find_straggler(const FlightFleet& fleet);

}  // namespace muster
