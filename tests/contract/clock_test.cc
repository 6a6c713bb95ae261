#include "edge/os/clock.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/fake_clock.h"

// One suite for every implementation of Clock.

namespace muster {
namespace {

using std::chrono::milliseconds;

struct Kind {
  const char* name;
  std::shared_ptr<Clock> (*make)();
};

std::shared_ptr<Clock> the_system() {
  return {&system_clock(), [](Clock*) {}};
}
std::shared_ptr<Clock> the_fake() {
  return std::make_shared<FakeClock>(wall_from_ns(1'000));
}

class ClockContract : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { clock_ = GetParam().make(); }
  std::shared_ptr<Clock> clock_;
};

TEST_P(ClockContract, NeverRunsBackwards) {
  MonoTime last = clock_->mono();
  for (int i = 0; i < 1000; ++i) {
    const MonoTime now = clock_->mono();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST_P(ClockContract, SleepEndsAtItsTimeAndNotBefore) {
  const MonoTime until = clock_->mono() + milliseconds(2);
  EXPECT_TRUE(clock_->sleep_until(until, {}));
  EXPECT_GE(clock_->mono(), until);
}

TEST_P(ClockContract, ASleepIntoThePastEndsAtOnce) {
  EXPECT_TRUE(clock_->sleep_until(clock_->mono() - milliseconds(1), {}));
}

TEST_P(ClockContract, StopEndsTheSleepAndIsNoTime) {
  std::stop_source stop;
  stop.request_stop();
  const MonoTime until = clock_->mono() + std::chrono::hours(1);
  EXPECT_FALSE(clock_->sleep_until(until, stop.get_token()));
  EXPECT_LT(clock_->mono(), until);
}

INSTANTIATE_TEST_SUITE_P(All, ClockContract,
                         testing::Values(Kind{"system", the_system}, Kind{"fake", the_fake}),
                         [](const auto& row) { return row.param.name; });

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock(wall_from_ns(50), MonoTime(Duration(7)));
  EXPECT_EQ(clock.mono(), MonoTime(Duration(7)));
  clock.advance(Duration(3));
  EXPECT_EQ(clock.mono(), MonoTime(Duration(10)));
  EXPECT_EQ(clock.wall(), wall_from_ns(53));
  clock.set_wall(wall_from_ns(1));
  EXPECT_EQ(clock.mono(), MonoTime(Duration(10)));
  EXPECT_EQ(clock.wall(), wall_from_ns(1));
}

}  // namespace
}  // namespace muster
