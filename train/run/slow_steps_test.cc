#include "train/run/slow_steps.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::train {
namespace {

constexpr PhaseSeconds kUsual = {0.01, 0.3, 0, 0.6, 0.04, 0.05};

// After `before` usual steps of a second one step of these ranks.
std::string said(int before, double step_s, std::vector<PhaseSeconds> ranks) {
  SlowSteps slow;
  const std::vector<PhaseSeconds> usual(ranks.size(), kUsual);
  for (int i = 0; i < before; ++i) EXPECT_EQ(slow.judge(1, 1.0, usual), std::nullopt);
  return slow.judge(480, step_s, ranks).value_or("");
}

PhaseSeconds with(Phase phase, double seconds) {
  PhaseSeconds all = kUsual;
  all[static_cast<std::size_t>(phase)] = seconds;
  return all;
}

struct Row {
  const char* name;
  int before;
  double step_s;
  std::vector<PhaseSeconds> ranks;
  const char* says;
};

TEST(SlowSteps, Table) {
  const PhaseSeconds waits = with(Phase::reduce_wait, 4.0);
  const Row kRows[] = {
      {"usual", 20, 1.1, {kUsual, kUsual}, ""},
      {"three_times_is_not_more", 20, 3.0, {kUsual, kUsual}, ""},
      {"too_early", 7, 9.0, {kUsual, with(Phase::data, 8)}, ""},
      {"data_of_rank_1",
       20,
       5.0,
       {waits, with(Phase::data, 4.01), waits},
       "slow step 480: 5.00 s, median 1.00 s; rank 1 spent 4.01 s in data, the others 0.01 s"},
      {"forward_of_rank_2",
       20,
       5.0,
       {waits, waits, with(Phase::forward, 4.3), waits},
       "slow step 480: 5.00 s, median 1.00 s; rank 2 spent 4.30 s in forward, the others 0.30 s"},
      {"of_two_ranks",
       20,
       5.0,
       {waits, with(Phase::backward, 4.6)},
       "slow step 480: 5.00 s, median 1.00 s; rank 1 spent 4.60 s in backward, the others 0.60 s"},
      {"first_of_two_ranks",
       20,
       5.0,
       {with(Phase::backward, 4.6), waits},
       "slow step 480: 5.00 s, median 1.00 s; rank 0 spent 4.60 s in backward, the others 0.60 s"},
      {"network",
       20,
       5.0,
       {waits, waits, waits},
       "slow step 480: 5.00 s, median 1.00 s; no rank worked longer than the others"},
      {"all_equally_slow",
       20,
       5.0,
       {with(Phase::forward, 4), with(Phase::forward, 4)},
       "slow step 480: 5.00 s, median 1.00 s; no rank worked longer than the others"},
      {"alone",
       20,
       5.0,
       {with(Phase::data, 4)},
       "slow step 480: 5.00 s, median 1.00 s; most of it, 4.00 s, in data"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(said(row.before, row.step_s, row.ranks), row.says) << row.name;
  }
}

TEST(SlowSteps, NoiseOfShortStepsIsNone) {
  SlowSteps slow;
  const std::vector<PhaseSeconds> ranks(2, PhaseSeconds{});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(slow.judge(1, 0.004, ranks));
  EXPECT_FALSE(slow.judge(2, 0.05, ranks));
  EXPECT_TRUE(slow.judge(3, 0.06, ranks));
}

// A run that becomes slower for good says so for a while, then that is its pace.
TEST(SlowSteps, GetsUsedToANewPace) {
  SlowSteps slow;
  const std::vector<PhaseSeconds> ranks(2, kUsual);
  for (int i = 0; i < 64; ++i) slow.judge(1, 1, ranks);
  int said = 0;
  for (int i = 0; i < 200; ++i) said += slow.judge(2, 10, ranks) ? 1 : 0;
  EXPECT_GT(said, 20);
  EXPECT_LT(said, 64);
}

}  // namespace
}  // namespace muster::train
