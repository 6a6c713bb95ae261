#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/explain/log_rule.h"
#include "edge/os/files.h"

// A user's rules for `muster explain` (docs/FORMATS.md, rules.toml).

namespace muster {

struct RulesFile {
  std::string name;            // for complaints
  std::vector<LogRule> rules;  // in their order
  // Lines that a rule must match before all others, and lines that it must not match.
  std::vector<RuleExample> match, no_match;
};

// Complaints name file, line and column. Whether patterns can be used is RuleMatcher's to say.
Result<RulesFile> read_rules_file(Files& files, const std::string& path);

// The same from text; `name` stands in errors.
Result<RulesFile> parse_rules_file(std::string_view text, const std::string& name);

}  // namespace muster
