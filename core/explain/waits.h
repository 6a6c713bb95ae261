#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/explain/claim.h"

// Who waited in a collective, and for whom, as far as logs alone tell. Those who print a time-out
// are victims; what their numbers and the silence of others say is below. Flight-recorder dumps
// tell more (core/flight/).

namespace muster {

struct Waits {
  std::vector<std::size_t> events;  // of time-outs, in the order of time; empty: nobody waited
  std::set<std::int32_t> ranks;     // whose they are
  // Ranks without one, where the logs plainly cover the job and those ranks are one, or all of one
  // host; empty otherwise.
  std::set<std::int32_t> silent;
  std::string silent_host;   // of several silent ranks
  bool log_missing = false;  // of a silent rank, where each rank has a log of its own
  bool world_known = false;  // the size of the job is told beside the ranks that wait
};

Waits find_waits(const Scene& scene);

// Adds a claim of what the waits mean by themselves: training had ended, another rank was still in
// an evaluation or a save, operations that do not match, a rank that is behind or silent, or a hang
// that nobody explains. Mends the claims of stuck watchdogs: one that is stuck on every rank
// accuses none. Marks what only happened after the end of training as consequences.
void judge_waits(const Scene& scene, const Waits& waits, std::vector<Claim>& claims);

}  // namespace muster
