#include "train/run/local_ranks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>

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

// The others fall out of step when one fails, and may be seen to end before it.
TEST(LocalRanks, ACauseIsToldBeforeItsConsequence) {
  const auto ended =
      run_local_ranks(3, [](int rank) { return rank == 1 ? ::usleep(20'000), 74 : 76; }, kLong);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 74);
  EXPECT_EQ(ended->first, "rank 1 ended with status 74");
}

// It takes note of SIGTERM and stays: only SIGKILL ends it, and that is no cause of anything.
TEST(LocalRanks, WhoDoesNotEndIsKilledAfterTheGrace) {
  for (const int status : {70, 76}) {
    const auto ended = run_local_ranks(
        2,
        [status](int rank) {
          if (rank == 0) return status;
          watch_stop_signals();
          for (;;) ::usleep(1000);
        },
        std::chrono::milliseconds(20));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->status, status);
    EXPECT_EQ(ended->first, "rank 0 ended first, with status " + std::to_string(status));
  }
}

TEST(LocalRanks, SignalsGoOnToAll) {
  const auto ended = run_local_ranks(
      2,
      [](int rank) {
        if (rank == 0) ::kill(::getppid(), SIGTERM);
        ::usleep(20'000);  // it comes before anybody looks
        watch_stop_signals();
        return wait_for_signal(rank) >= 10 ? 75 : 0;
      },
      kLong);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 75);
}

}  // namespace
}  // namespace muster::train
