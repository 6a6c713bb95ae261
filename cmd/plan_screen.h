#pragma once

#include <string>

#include "core/cost/train_plan.h"

namespace muster {

// The screen of `muster plan`: what was asked for, the table, what to do.
std::string plan_screen(const cost::TrainPlan& plan);

}  // namespace muster
