#include "train/optim/schedule.h"

#include <cmath>
#include <numbers>

namespace muster::train {

double CosineSchedule::rate(std::uint64_t step) const {
  if (step < warmup_steps) {
    return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  if (step >= total_steps) return 0;
  const double way =
      static_cast<double>(step - warmup_steps) / static_cast<double>(total_steps - warmup_steps);
  return peak * 0.5 * (1 + std::cos(std::numbers::pi * way));
}

}  // namespace muster::train
