#pragma once

#include <cstdint>

namespace muster::train {

// Which steps end with a checkpoint: every `every` steps (0: none), at the end of each epoch, and
// at the end of the run.
struct SaveSchedule {
  std::uint64_t every = 500;
  std::uint64_t epoch_steps = 0;  // of one epoch; not 0
  std::uint64_t target_step = 0;

  // `step`: steps that are complete, from 1.
  bool saves_after(std::uint64_t step) const {
    if (step == target_step || step % epoch_steps == 0) return true;
    return every != 0 && step % every == 0;
  }
};

}  // namespace muster::train
