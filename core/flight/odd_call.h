#pragma once

#include <cstdint>
#include <vector>

#include "core/flight/judge_evidence.h"

namespace muster {

// What it is called that `ranks` (sorted) stand in `node` with another call than the rest: left the
// loop, a call too many, or just another one.
FlightVerdictKind kind_of_odd(const FlightEvidence& evidence, const WaitNode& node,
                              const std::vector<std::int32_t>& ranks);

}  // namespace muster
