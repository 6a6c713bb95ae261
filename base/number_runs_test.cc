#include "base/number_runs.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace muster {
namespace {

using Pair = NumberRun<std::int32_t>;

TEST(NumberRuns, Rows) {
  struct Row {
    std::vector<std::int32_t> numbers;
    std::vector<Pair> runs;
  };
  const Row rows[] = {
      {{}, {}},
      {{3}, {{3, 3}}},
      {{0, 1}, {{0, 1}}},
      {{0, 2}, {{0, 0}, {2, 2}}},
      {{0, 1, 2, 5, 7, 8}, {{0, 2}, {5, 5}, {7, 8}}},
  };
  for (const Row& row : rows) EXPECT_EQ(runs_of(row.numbers), row.runs);
}

}  // namespace
}  // namespace muster
