#pragma once

#include <cstddef>
#include <vector>

#include "train/model/unit_plan.h"

namespace muster::train {

// For each unit the first stage that uses it, and how many do. Units that several stages use (tied
// weights) stay in memory from the first to the last of them.
struct UnitUse {
  std::size_t first_stage = 0;
  std::size_t stages = 0;

  bool shared() const { return stages > 1; }
};

std::vector<UnitUse> unit_uses(const UnitPlan& plan);

}  // namespace muster::train
