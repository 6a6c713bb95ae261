#pragma once

#include <vector>

#include "core/model/action.h"
#include "core/model/cause.h"

namespace muster {

// What helps against a cause as a rule, the most important first; where neither a line nor a join
// knows better. Never empty.
std::vector<Action> usual_actions(Cause cause);

}  // namespace muster
