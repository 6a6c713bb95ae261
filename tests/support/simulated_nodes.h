#pragma once

#include <cstdint>

#include "tests/support/power_recording.h"

namespace muster {

// SIMULATED whole-node power of one healthy training run with its log, as public recordings of
// 8-GPU H100 nodes look: 3 to 8 nodes, a sample about every 2 s, each node in its own phase.
//
// Loading at 2.3 to 2.9 kW; work at 5.6 to 7.3 kW with a dip a step; evaluations of 4 to 15 s at
// nine tenths of work; saves of 8 to 100 s at the floor; after the end the floor, then rest at
// 2.2 kW. Nodes differ by 2.5 %; in some runs one of them has a floor of its own, at two thirds of
// work. Single samples are missing, and now and then those of one node for 20 s.
PowerRecording simulate_nodes(std::uint64_t seed);

}  // namespace muster
