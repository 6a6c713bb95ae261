#include "train/run/past_schedule.h"

#include <gtest/gtest.h>

#include "tests/support/shell.h"
#include "train/run/step_report.h"

namespace muster::train {
namespace {

std::string line(std::uint64_t step, std::uint64_t target, double rate) {
  StepReport report;
  report.step = step;
  report.target_step = target;
  report.learning_rate = rate;
  report.loss = 2;
  return step_metrics(report);
}

struct Row {
  const char* name;
  std::string metrics;
  const char* change;  // empty: none
};

TEST(PastSchedule, Changes) {
  constexpr double kRate = 9.1e-6;
  const std::string same = line(3, 10, kRate);
  const Row kRows[] = {
      {"no_line", "", ""},
      {"damaged", "{\"schema\":\nnonsense\n", ""},
      {"another_step", line(2, 20, 1e-3) + line(4, 20, 1e-3), ""},
      {"same", line(2, 10, 1e-5) + same + line(4, 10, 1e-6), ""},
      {"cut_first", same.substr(20) + same, ""},
      {"the_last_attempt_counts", line(3, 20, 1e-3) + same, ""},
      {"steps", line(3, 20, kRate), "the run was to end after step 20, now after 10"},
      {"rate", line(3, 10, 9.2e-6),
       "the learning rate was 9.200e-06 at step 3, now it is 9.100e-06"},
      {"both", line(3, 20, 9.2e-6),
       "the run was to end after step 20, now after 10; the learning rate was 9.200e-06 at step "
       "3, now it is 9.100e-06"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(schedule_change(row.metrics, 3, 10, kRate).value_or(""), row.change) << row.name;
  }
}

TEST(PastSchedule, Tail) {
  const testing_support::TemporaryFolder folder;
  EXPECT_EQ(metrics_tail(folder.path() + "/nowhere"), "");
  EXPECT_EQ(metrics_tail(folder.write("short", "a\nb\n")), "a\nb\n");
  EXPECT_EQ(metrics_tail(folder.write("long", std::string(1'500'000, 'x') + "end")).size(),
            1024U * 1024);
}

}  // namespace
}  // namespace muster::train
