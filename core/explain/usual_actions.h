#pragma once

#include <string_view>
#include <vector>

#include "core/model/action.h"
#include "core/model/cause.h"

namespace muster {

// What helps against a cause as a rule, the most important first; where neither a line nor a join
// knows better. Never empty.
std::vector<Action> usual_actions(Cause cause);

// The same in words: the measurement or repair that comes next. Empty: what the first action means
// says it all.
std::string_view usual_next(Cause cause);

}  // namespace muster
