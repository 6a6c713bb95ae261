#include "app/rule_check.h"

#include <fmt/core.h>

#include <set>
#include <utility>

#include "app/log_line_reader.h"
#include "core/explain/rule_matcher.h"

namespace muster {

std::vector<LogRule> with_builtin_rules(std::vector<LogRule> rules) {
  const auto builtin = builtin_rules();
  rules.insert(rules.end(), builtin.begin(), builtin.end());
  return rules;
}

Result<RuleCheck> check_rules(std::vector<LogRule> rules, std::span<const RuleExample> match,
                              std::span<const RuleExample> no_match) {
  RuleCheck out;
  std::set<std::string> tested;
  for (const RuleExample& example : match) tested.insert(example.rule);
  for (const LogRule& rule : rules) {
    if (!tested.contains(rule.name)) out.untested.push_back(rule.name);
  }
  const auto matcher = RuleMatcher::make(with_builtin_rules(std::move(rules)));
  if (!matcher) return matcher.error();
  LogLineReader reader(std::nullopt);
  const auto rule_of = [&](const RuleExample& example) {
    ++out.lines;
    const auto event = matcher->match(reader.read(example.line));
    return event ? event->rule : std::string();
  };
  for (const RuleExample& example : match) {
    const std::string rule = rule_of(example);
    if (rule == example.rule) continue;
    out.failures.push_back(fmt::format("rule {} must match, {}: {}", example.rule,
                                       rule.empty() ? "and none does" : "but " + rule + " does",
                                       example.line));
  }
  for (const RuleExample& example : no_match) {
    if (rule_of(example) != example.rule) continue;
    out.failures.push_back(fmt::format("rule {} must not match: {}", example.rule, example.line));
  }
  return out;
}

}  // namespace muster
