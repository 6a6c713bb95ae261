#pragma once

#include "core/flight/fleet.h"
#include "core/flight/verdict.h"
#include "core/model/grid.h"

namespace muster {

// Who was where around the collective of the verdict: one column for each number of its group,
// ranks that did the same in one row, the culprits first. Empty where the verdict has no number.
Grid flight_timeline(const FlightFleet& fleet, const FlightVerdict& verdict);

}  // namespace muster
