#include "core/progress/step_summary.h"

#include <gtest/gtest.h>

#include "core/progress/progress_decoder.h"

namespace muster {
namespace {

StepSummary summary_of(std::string_view log) {
  StepSummary summary;
  ProgressDecoder decoder;
  decoder.feed(log, summary);
  decoder.finish(summary);
  return summary;
}

const auto kRowName = [](const auto& row) { return std::string(row.param.name); };

double seconds(std::optional<Duration> d) {
  return d ? duration_to_seconds(*d) : -1;
}

TEST(StepSummary, OfNothing) {
  const StepSummary s = summary_of("nothing here\n");
  EXPECT_EQ(s.steps(), 0u);
  EXPECT_EQ(s.events(), 0u);
  EXPECT_FALSE(s.first_step() || s.last_step() || s.target_step() || s.last_stamped());
  EXPECT_FALSE(s.median_step_s() || s.longest_save() || s.open_save() || s.open_eval());
  EXPECT_FALSE(s.complete());
}

TEST(StepSummary, FirstLastTargetAndMedian) {
  const StepSummary s = summary_of(
      "[10:00:00] step 1/9 loss 3\n[10:00:50] step 2/9 loss 3\n[10:00:55] step 3/9 loss 3\n"
      "[10:01:00] step 4/9 loss 3\n[10:01:05] step 5/9 loss 2\n");
  EXPECT_EQ(s.steps(), 5u);
  EXPECT_EQ(s.first_step()->step, 1);
  EXPECT_EQ(s.last_step()->step, 5);
  EXPECT_EQ(s.target_step(), 9);
  EXPECT_EQ(s.last_stamped()->line, 5u);
  EXPECT_NEAR(*s.median_step_s(), 5.0, 0.05);
  EXPECT_FALSE(s.complete());
}

struct MedianRow {
  const char* name;
  const char* log;
  double want;  // 0: none
};
class StepSummaryMedian : public ::testing::TestWithParam<MedianRow> {};
TEST_P(StepSummaryMedian, StepTime) {
  const auto median = summary_of(GetParam().log).median_step_s();
  if (GetParam().want == 0) {
    EXPECT_FALSE(median) << *median;
  } else {
    ASSERT_TRUE(median);
    EXPECT_NEAR(*median, GetParam().want, GetParam().want * 0.011);
  }
}
constexpr MedianRow kMedians[] = {
    {"printed", "step 1 dt: 4ms\nstep 2 dt: 5ms\nstep 3 dt: 900ms\n", 0.005},
    {"one_is_none", "step 1 dt: 4ms\n", 0},
    {"no_times", "step 1 loss 1\nstep 2 loss 1\nstep 3 loss 1\n", 0},
    {"every_tenth",
     "[10:00:00] step 10 loss 1\n[10:00:50] step 20 loss 1\n"
     "[10:01:40] step 30 loss 1\n",
     5},
    {"midnight", "[23:59:50] step 1 loss 1\n[00:00:00] step 2 loss 1\n[00:00:10] step 3 loss 1\n",
     10},
    {"clock_set_back",
     "[2026-10-25 02:59:50] step 1 loss 1\n[2026-10-25 02:00:00] step 2 loss 1\n"
     "[2026-10-25 02:00:10] step 3 loss 1\n",
     0},
    {"date_and_clock_do_not_mix",
     "[2026-10-25 02:59:50] step 1 loss 1\n[03:00:00] step 2 loss 1\n"
     "[2026-10-25 03:00:10] step 3 loss 1\n",
     0},
    {"same_step_again", "[10:00:00] step 1 loss 1\n[10:00:09] step 1 loss 1\n", 0},
    {"steps_go_back",
     "[10:00:00] step 9 loss 1\n[10:00:09] step 3 loss 1\n"
     "[10:00:10] step 2 loss 1\n",
     0},
    {"absurd", "step 1 dt: 0.0\nstep 2 dt: 9999999999\nstep 3 dt: nan\n", 0},
};
INSTANTIATE_TEST_SUITE_P(Rows, StepSummaryMedian, ::testing::ValuesIn(kMedians), kRowName);

TEST(StepSummary, LinesOfOneStepAreOneStep) {
  const StepSummary s = summary_of("[10:00:00] step 4/9 tok/s 100\nstep 4 loss 2.5\n");
  EXPECT_EQ(s.steps(), 1u);
  EXPECT_EQ(s.last_step()->loss, 2.5);
  EXPECT_EQ(s.last_step()->tokens_per_s, 100);
  EXPECT_TRUE(s.last_step()->at);
}

struct SaveRow {
  const char* name;
  const char* log;
  double longest_s;  // -1: none
  bool open;
};
class StepSummarySaves : public ::testing::TestWithParam<SaveRow> {};
TEST_P(StepSummarySaves, Track) {
  const StepSummary s = summary_of(GetParam().log);
  EXPECT_EQ(seconds(s.longest_save()), GetParam().longest_s);
  EXPECT_EQ(s.open_save().has_value(), GetParam().open);
}
constexpr SaveRow kSaves[] = {
    {"open", "[10:00:00] step 5 loss 1\n[10:00:05] saving checkpoint step=5\n", -1, true},
    {"printed", "[10:00:05] saving checkpoint step=5\ncheckpoint step=5 done in 12.5 s\n", 12.5,
     false},
    {"by_stamps", "[10:00:05] saving checkpoint step=5\n[10:00:25] checkpoint saved\n", 20, false},
    {"over_midnight", "[23:59:55] saving checkpoint\n[00:00:15] checkpoint saved\n", 20, false},
    {"by_next_step", "[10:00:00] saving checkpoint step=5\n[10:00:30] step 6 loss 1\n", 30, false},
    {"not_by_same_step", "[10:00:00] saving checkpoint step=5\n[10:00:30] step 5 loss 1\n", -1,
     true},
    {"begin_without_step", "step 5 loss 1\nsaving checkpoint\nstep 6 loss 1\n", -1, false},
    {"closed_by_restart", "saving checkpoint step=5\nresuming from checkpoint step_4\n", -1, false},
    {"an_error_leaves_it_open", "saving checkpoint step=5\nRuntimeError: x\n", -1, true},
    {"known", "previous saves: step 500 117 s, step 1000 121 s\n", 121, false},
    {"longest_wins", "previous saves: step 500 117 s\ncheckpoint saved in 12 s\n", 117, false},
    {"end_without_begin", "checkpoint saved\n", -1, false},
    {"clock_back",
     "[2026-10-25 02:59:59] saving checkpoint\n[2026-10-25 02:00:09] checkpoint "
     "saved\n",
     -1, false},
};
INSTANTIATE_TEST_SUITE_P(Rows, StepSummarySaves, ::testing::ValuesIn(kSaves), kRowName);

TEST(StepSummary, KeepsTheNewestKnownSavesOnly) {
  std::string log = "previous saves:";
  for (int i = 1; i <= 100; ++i) log += " step " + std::to_string(i) + " 9 s,";
  const StepSummary s = summary_of(log + "\n");
  ASSERT_EQ(s.known_saves().size(), 64u);
  EXPECT_EQ(s.known_saves().back().step, 100);
  EXPECT_EQ(s.count(ProgressKind::save_known), 100u);
}

TEST(StepSummary, AnEvaluationStaysOpenWhileItAdvances) {
  StepSummary s = summary_of("[02:00:00] start evaluation\n[03:00:00] eval 9/18\n");
  ASSERT_TRUE(s.open_eval());
  EXPECT_EQ(s.open_eval()->line, 1u);
  EXPECT_EQ(s.last(ProgressKind::eval_begin)->line, 2u);
  s = summary_of("start evaluation\nevaluation finished\n");
  EXPECT_FALSE(s.open_eval());
}

TEST(StepSummary, Complete) {
  EXPECT_TRUE(summary_of("step 9/9 loss 1\n").complete());
  EXPECT_TRUE(summary_of("step 8 loss 1\nTraining complete\n").complete());
  EXPECT_FALSE(summary_of("step 8/9 loss 1\n").complete());
  EXPECT_FALSE(
      summary_of("Training complete\nresumed from checkpoint\nstep 3 loss 1\n").complete());
}

TEST(StepSummary, TextIsACopyAndBounded) {
  const std::string long_line = "saving checkpoint " + std::string(5000, 'x');
  const StepSummary s = summary_of(long_line + "\n");
  EXPECT_EQ(s.open_save()->text, long_line.substr(0, 512));
}

}  // namespace
}  // namespace muster
