// Any bytes as a user's rules: never a crash; what is taken can be compiled or says by name why
// not, and an anchor that a pattern has in itself stands in each line that it matches.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "core/explain/rule_matcher.h"
#include "edge/config/rules_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto file = muster::parse_rules_file(text, "f");
  if (!file) {
    MUSTER_CHECK(file.error().context.starts_with("f:"), "an error says where");
    return 0;
  }
  MUSTER_CHECK(!file->rules.empty(), "a file of rules has one");
  const auto matcher = muster::RuleMatcher::make(file->rules);
  if (!matcher) {
    MUSTER_CHECK(matcher.error().context.starts_with("rule "), "an error names the rule");
    return 0;
  }
  for (const auto* examples : {&file->match, &file->no_match}) {
    for (const muster::RuleExample& example : *examples) {
      const muster::LogLine line{.text = example.line, .message = example.line};
      const auto event = matcher->match(line);
      if (!event) continue;
      for (const muster::LogRule& rule : file->rules) {
        if (rule.name != event->rule || !rule.anchor.empty()) continue;
        const std::string anchor = muster::anchor_of_pattern(rule.pattern);
        MUSTER_CHECK(example.line.find(anchor) != std::string::npos, "the anchor stands there");
      }
    }
  }
  return 0;
}
