#include "train/fsdp/unit_use.h"

namespace muster::train {

std::vector<UnitUse> unit_uses(const UnitPlan& plan) {
  std::vector<UnitUse> out(plan.units().size());
  for (std::size_t stage = 0; stage < plan.stages().size(); ++stage) {
    UnitUse& use = out[plan.stages()[stage].unit];
    if (use.stages++ == 0) use.first_stage = stage;
  }
  return out;
}

}  // namespace muster::train
