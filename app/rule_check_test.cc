#include "app/rule_check.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

LogRule rule(std::string name, std::string pattern) {
  LogRule out;
  out.name = std::move(name);
  out.pattern = std::move(pattern);
  return out;
}

TEST(RuleCheck, SaysWhichLinesFail) {
  const std::vector<LogRule> rules = {rule("first", "quota of .* exceeded"),
                                      rule("second", "quota of \\w+"), rule("bare", "never seen")};
  const std::vector<RuleExample> match = {{"first", "[rank3]: quota of eva exceeded"},
                                          {"second", "quota of eva exceeded"},
                                          {"second", "qouta of eva"},
                                          {"second", "2026-08-01 10:00:00 n1 app: quota of eva"}};
  const std::vector<RuleExample> no_match = {{"first", "quota of eva"},
                                             {"second", "quota of eva: 7 %"}};
  const auto check = check_rules(rules, match, no_match);
  ASSERT_TRUE(check) << check.error().context;
  const std::vector<std::string> failures = {
      "rule second must match, but first does: quota of eva exceeded",
      "rule second must match, and none does: qouta of eva",
      "rule second must not match: quota of eva: 7 %"};
  EXPECT_EQ(check->failures, failures);
  EXPECT_EQ(check->untested, std::vector<std::string>{"bare"});
  EXPECT_EQ(check->lines, 6u);
}

TEST(RuleCheck, ARuleThatCannotBeUsedFails) {
  EXPECT_FALSE(check_rules({rule("a", "(")}, {}, {}));
  // The name of a built-in one.
  EXPECT_FALSE(check_rules({rule(builtin_rules().front().name, "quota")}, {}, {}));
}

TEST(RuleCheck, BuiltInRulesCanBeUsed) {
  const auto check = check_rules({}, {}, {});
  ASSERT_TRUE(check) << check.error().context;
}

}  // namespace
}  // namespace muster
