#pragma once

#include "core/blocks/plan_facts.h"
#include "core/model/finding.h"

namespace muster::blocks {

// Whether a run of this plan gives all ranks the same number of steps, and any at all. `findings`,
// `blind` and `notes` are added to `report`. What the plan does not say is tried both ways (whether
// a batch that is not full is made, how samples are dealt): only what holds either way is sure.
// What is missing is asked for and never assumed to be healthy.
void judge_plan(const PlanFacts& facts, Report& report);

}  // namespace muster::blocks
