#include "train/optim/schedule.h"

#include <gtest/gtest.h>

#include <limits>

namespace muster::train {
namespace {

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

TEST(Schedule, RowsOfARun) {
  struct Row {
    const char* name;
    std::uint64_t warmup, total, step;
    double factor;
  };
  // factor: what LambdaLR of transformers multiplies the rate with.
  const Row rows[] = {
      {"a run of no step", 0, 0, 0, 0.0},
      {"warm-up longer than the run", 10, 5, 9, 0.9},
      {"and behind it", 10, 5, 10, 0.0},
      {"beyond the end", 0, 10, 11, 0.0},
      {"far beyond it", 3, 10, kLast, 0.0},
      {"the end", 0, 10, 10, 0.0},
      {"first, no warm-up", 0, 10, 0, 1.0},
      {"first of a warm-up", 4, 12, 0, 0.0},
      {"in the warm-up", 4, 12, 3, 0.75},
      {"the peak", 4, 12, 4, 1.0},
      {"half way down", 4, 12, 8, 0.5},
      {"a quarter", 4, 12, 6, 0.85355339059327373},
      {"the last step", 4, 12, 11, 0.038060233744356631},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const CosineSchedule schedule{2e-5, row.warmup, row.total};
    EXPECT_NEAR(schedule.rate(row.step), 2e-5 * row.factor, 1e-20);
  }
}

TEST(Schedule, NeverRisesBehindTheWarmUp) {
  const CosineSchedule schedule{1e-5, 100, 3854};
  for (std::uint64_t step = 1; step < 4000; ++step) {
    const double before = schedule.rate(step - 1), now = schedule.rate(step);
    if (step <= 100) {
      EXPECT_GT(now, before);
    } else {
      EXPECT_LE(now, before) << step;
    }
  }
}

}  // namespace
}  // namespace muster::train
