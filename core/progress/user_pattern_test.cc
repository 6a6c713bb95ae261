#include "core/progress/user_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

constexpr const char* kFull =
    R"((?P<step>[\d,]+) of (?P<total>\d+) e=(?P<epoch>\d+) L=(?P<loss>\S+) (?P<tps>\S+) t/s )"
    R"((?P<dt>\S+) s (?P<mfu>\S+) mfu)";

TEST(UserPattern, ReadsEveryGroup) {
  const auto pattern = UserPattern::compile(kFull);
  ASSERT_TRUE(pattern) << pattern.error().context;
  const auto match = pattern->read("[09:00:00] 1,480 of 4000 e=3 L=1.25 52.8k t/s 4.95 s 30.7 mfu");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->step.step, 1480);
  EXPECT_EQ(match->step.target_step, 4000);
  EXPECT_EQ(match->step.loss, 1.25);
  EXPECT_EQ(match->step.tokens_per_s, 52800);
  EXPECT_EQ(match->step.step_s, 4.95);
  EXPECT_NEAR(*match->step.mfu_ratio, 0.307, 1e-9);
  EXPECT_EQ(match->epoch, 3);
}

TEST(UserPattern, GroupsThatDoNotTakePartAreAbsent) {
  const auto pattern = UserPattern::compile(R"(at (?P<step>\d+)(?: loss (?P<loss>\S+))?)");
  ASSERT_TRUE(pattern);
  const auto match = pattern->read("at 12");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->step.step, 12);
  EXPECT_FALSE(match->step.loss || match->step.target_step || match->epoch);
}

struct Row {
  const char* name;
  std::string pattern;
  const char* complaint;
};
class UserPatternRefuses : public ::testing::TestWithParam<Row> {};
TEST_P(UserPatternRefuses, With) {
  const auto pattern = UserPattern::compile(GetParam().pattern);
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().code, Errc::invalid_input);
  EXPECT_NE(pattern.error().context.find(GetParam().complaint), std::string::npos)
      << pattern.error().context;
}
INSTANTIATE_TEST_SUITE_P(
    Rows, UserPatternRefuses,
    ::testing::Values(Row{"empty", "", "no group named"}, Row{"no_step", "(?P<loss>x)", "no group"},
                      Row{"unnamed_step", R"(step (\d+))", "no group"},
                      Row{"unknown_group", R"((?P<step>\d)(?P<stp>\d))", "\"stp\" is none of"},
                      Row{"unbalanced", "(?P<step>x", "not a regular expression"},
                      Row{"bad_repeat", "(?P<step>x)**", "not a regular expression"},
                      Row{"backreference", R"((?P<step>x)\1)", "not a regular expression"},
                      Row{"huge_repeat", "(?P<step>((x{900}){900}){900})", "not a regular"},
                      Row{"too_long", "(?P<step>x)" + std::string(5000, 'y'), "longer than"},
                      Row{"groups", "(?P<step>x)" + std::string(80, '(') + std::string(80, ')'),
                          "more than 31"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(UserPattern, LinesThatDoNotFit) {
  const auto pattern = UserPattern::compile("at (?P<step>\\S+) (?P<dt>\\S*)");
  ASSERT_TRUE(pattern);
  for (const char* line :
       {"", "on 12 ", "at x 1", "at -4 1", "at 1.5 1", "at 12x 1", "at 99999999999999999999 1"}) {
    EXPECT_FALSE(pattern->read(line)) << line;
  }
  EXPECT_FALSE(pattern->read("at 3 fast")->step.step_s);
  EXPECT_FALSE(pattern->read("at 3 -1")->step.step_s);
  EXPECT_FALSE(pattern->read("at 3 1e300")->step.step_s);
}

TEST(UserPattern, AnEvilPatternIsLinear) {
  const auto pattern = UserPattern::compile("(a*)*(?P<step>b)");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->read(std::string(200000, 'a')));
}

}  // namespace
}  // namespace muster
