#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/flight/dump.h"
#include "core/flight/verdict.h"
#include "core/model/rank_witness.h"
#include "tests/support/flight_faults.h"

// SIMULATED flight-recorder dumps of training jobs whose fault is known, for tests and benchmarks:
// 8 to 64 ranks, programs as trainers write them, one fault, dumps as they are written when the
// watchdog gives up. Same seed, same dumps, on every machine. What it cannot show: CUDA graphs,
// real call stacks, real timing.

namespace muster {

struct SimulatedFlight {
  std::vector<FlightDump> dumps;   // in the order of ranks; a crashed rank has none
  std::optional<FaultKind> fault;  // nothing: a healthy job
  std::vector<int> culprits;       // sorted global ranks; empty: nobody
  std::string culprit_group;       // description of the group in which it began
  // Names that a true first verdict may carry; empty: there must be no verdict but `undecided`.
  // deadlock_cycle and undecided name a set that holds the culprits, all others the culprits.
  std::vector<FlightVerdictKind> accepted;
  std::string topology;                // "tp2 replicate4 (8 ranks)"
  std::vector<RankWitness> witnesses;  // what logs tell; often nothing
};

// Kind of fault and topology are drawn evenly from the seed.
SimulatedFlight simulate_flight(std::uint64_t seed);
SimulatedFlight simulate_fault(FaultKind kind, std::uint64_t seed);

// Two ranks with a fault each, both of which show. `culprits` and `accepted` are those of both: a
// true verdict names one of the two or both, and nobody else. `fault` is one of them.
SimulatedFlight simulate_two_faults(std::uint64_t seed);

// A job that goes on but for one rank that is always late.
SimulatedFlight simulate_straggler(std::uint64_t seed);

// Dumps asked for in the middle of work: calls are on their way, ranks are at different places.
SimulatedFlight simulate_healthy(std::uint64_t seed);

}  // namespace muster
