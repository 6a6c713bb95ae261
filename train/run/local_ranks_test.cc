#include "train/run/local_ranks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "train/run/stop_request.h"

namespace muster::train {
namespace {

constexpr Duration kLong = std::chrono::seconds(60);

// For as long as it takes to be ended by a signal.
int wait_for_signal(int rank) {
  for (;;) {
    if (stop_requested()) return 10 + rank;
    ::usleep(1000);
  }
}

TEST(LocalRanks, AllEndWell) {
  const auto ended = run_local_ranks(4, [](int) { return 0; }, kLong);
  ASSERT_TRUE(ended) << ended.error().context;
  EXPECT_EQ(ended->status, 0);
  EXPECT_FALSE(ended->first);
}

TEST(LocalRanks, TheFirstThatFailsIsNamed) {
  const auto ended = run_local_ranks(3, [](int rank) { return rank == 2 ? 76 : 0; }, kLong);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 76);
  EXPECT_EQ(ended->first, "rank 2 ended first, with status 76");
}

TEST(LocalRanks, KilledRanksAreNamedBySignal) {
  const auto ended = run_local_ranks(
      2, [](int rank) { return rank == 1 ? ::kill(::getpid(), SIGKILL) : 0; }, kLong);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 128 + SIGKILL);
  EXPECT_EQ(ended->first, "rank 1 ended first, by signal 9");
}

TEST(LocalRanks, WhoDoesNotEndIsKilledAfterTheGrace) {
  const auto ended = run_local_ranks(
      2, [](int rank) { return rank == 0 ? 70 : wait_for_signal(rank); },
      std::chrono::milliseconds(20));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 70);
  EXPECT_EQ(ended->first, "rank 0 ended first, with status 70");
}

TEST(LocalRanks, SignalsGoOnToAll) {
  const auto ended = run_local_ranks(
      2,
      [](int rank) {
        watch_stop_signals();
        if (rank == 0) ::kill(::getppid(), SIGTERM);
        return wait_for_signal(rank) >= 10 ? 75 : 0;
      },
      kLong);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 75);
}

}  // namespace
}  // namespace muster::train
