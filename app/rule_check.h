#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/explain/log_rule.h"

namespace muster {

struct RuleCheck {
  std::vector<std::string> failures;  // "rule quota must match: LINE", one for each that fails
  std::vector<std::string> untested;  // rules without a line that they must match
  std::size_t lines = 0;              // that were tried
};

// Tries a user's rules on the lines that they were made for, with the built-in ones behind them, as
// `explain` would read these lines. Fails where a rule cannot be used at all.
Result<RuleCheck> check_rules(std::vector<LogRule> rules, std::span<const RuleExample> match,
                              std::span<const RuleExample> no_match);

// The user's rules in front of the built-in ones.
std::vector<LogRule> with_builtin_rules(std::vector<LogRule> rules);

}  // namespace muster
