#pragma once

#include "tests/support/flight_machine.h"

// Who is waited for at the end of a simulation. Part of flight_simulator.h.

namespace muster {

// Others have called a collective of the group that is not done, and `rank` has not, or its call
// never came back.
bool waits_in(std::size_t group, std::size_t rank, const SimulatedJob& job, const Machine& machine);

// The same in any group, or the other end of a message waits.
bool somebody_waits_for(std::size_t rank, const SimulatedJob& job, const Machine& machine);

}  // namespace muster
