#pragma once

#include <string>

#include "core/blocks/plan_values.h"
#include "core/model/finding.h"

// The parts of judge_plan().

namespace muster::blocks {

// A table of what each rank reads.
void judge_table(const RankUnits& units, const PlanValues& values, Report& report);
// No table: samples of each rank, or of all and how many ranks there are.
void judge_samples(const PlanValues& values, Report& report);

// The plan does not say enough. `missing` reads on from "cannot tell ...: "; it is blind as well.
void ask_for_more(std::string missing, std::string next, const std::string& source, Report& report);
// The lines that the settings in use stand on.
void quote_settings(const PlanValues& values, Finding& finding);

}  // namespace muster::blocks
