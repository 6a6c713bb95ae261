#include "app/judged_time.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace {

using namespace std::chrono_literals;

TEST(JudgedTime, OfRounds) {
  constexpr WallTime kStart = wall_from_ns(1'780'000'000'000'000'000);
  struct Round {
    std::optional<Duration> newest;  // after the start
    Duration wall, want;
  };
  struct Row {
    const char* name;
    std::vector<Round> rounds;
  };
  const Row rows[] = {
      {"nothing came", {{{}, 5s, 5s}, {{}, 2h, 2h}}},
      {"live", {{0s, 1s, 1s}, {1s, 2s, 2s}}},
      {"a clock behind its rows", {{9s, 1s, 9s}}},
      {"live, and silent for hours",
       {{0s, 1s, 1s}, {0s, 59min, 59min}, {0s, 61min, 61min}, {0s, 9h, 9h}}},
      {"an old file", {{0s, 2h, 0s}, {1s, 3h, 1s}}},
      {"an old file that goes on now", {{0s, 2h, 0s}, {2h, 2h + 1s, 2h + 1s}, {2h, 9h, 9h}}},
      {"suspended over night", {{0s, 1s, 1s}, {0s, 9h, 9h}, {9h, 9h + 1s, 9h + 1s}}},
  };
  for (const Row& row : rows) {
    JudgedTime judged;
    for (const Round& round : row.rounds) {
      std::optional<WallTime> newest;
      if (round.newest) newest = kStart + *round.newest;
      EXPECT_EQ(judged.at(newest, kStart + round.wall) - kStart, round.want) << row.name;
    }
  }
}

}  // namespace
}  // namespace muster
