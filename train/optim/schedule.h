#pragma once

#include <cstdint>

namespace muster::train {

// The learning rate as a function of the step alone, so that a resumed run has nothing to restore:
// rises in a line from 0 over `warmup_steps`, then falls along half a cosine to 0 at `total_steps`.
// The same numbers as get_cosine_schedule_with_warmup of transformers, whose first step of a
// warm-up has rate 0.
struct CosineSchedule {
  double peak = 1e-5;
  std::uint64_t warmup_steps = 0, total_steps = 0;

  double rate(std::uint64_t step) const;  // step: from 0; beyond total_steps 0
};

}  // namespace muster::train
