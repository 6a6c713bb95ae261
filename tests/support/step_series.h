#pragma once

#include <cstdint>
#include <vector>

#include "core/model/progress.h"

// Step times of runs that never ran: noise, correlation, spikes, and one fault.

namespace muster::testing_support {

struct StepSeries {
  std::uint64_t seed = 1;
  std::int64_t steps = 5000;
  double step_s = 4.95;
  double noise = 0.0036;         // standard deviation of the logarithm
  double correlation = 0;        // of neighbours (first-order autoregressive)
  double spike_share = 0;        // of steps that take 1.2 to 2 times as long
  std::int64_t spike_every = 0;  // steps between regular spikes; 0: none
  double spike_ratio = 1.5;
  std::int64_t change_at = -1;   // step from which all take `change_ratio`
  std::int64_t change_end = -1;  // step at which it ends; -1: it stays
  double change_ratio = 1;
  double scatter_ratio = 1;        // of the noise behind the change
  double sag_per_step = 0;         // growth of the level, begun anew by each restart
  double slow_share_per_step = 0;  // growth of the share of steps that take 1.22 times as long
  std::int64_t restart_every = 0;
  std::int64_t warm_up_steps = 0;  // the first ones take up to 3 times as long
};

// Records with step and step_s, in order. After a restart the last two steps are made again, as
// from a checkpoint; the second of them is not told.
std::vector<StepRecord> simulate_steps(const StepSeries& series);

}  // namespace muster::testing_support
