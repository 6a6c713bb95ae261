#pragma once

#include <string>
#include <vector>

#include "core/flight/dump.h"
#include "core/flight/verdict.h"
#include "core/model/rank_witness.h"

// Named SIMULATED incidents, written by hand call by call, each with the verdict that a person who
// knows what happened would give.

namespace muster {

struct FlightFile {
  std::string name;
  std::string bytes;
};

struct FlightScenario {
  std::string name;
  std::vector<FlightDump> dumps;
  std::vector<FlightFile> files;  // instead of dumps, where the bytes are the point
  std::vector<RankWitness> witnesses;
  std::vector<FlightVerdictKind> expected;  // of the first verdict; empty: nothing hangs
  std::vector<int> culprits;                // sorted; empty: nobody
  Confidence least = Confidence::high;
  bool refused = false;  // no file may be read
};

std::vector<FlightScenario> flight_scenarios();

// Rank 0 of a job with a ring of 100,000 entries, 15 MB: what a support page that took entries for
// bytes makes people set. Nothing hangs in it.
std::string huge_flight_file();

}  // namespace muster
