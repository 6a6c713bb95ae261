#pragma once

#include <mutex>

#include "edge/os/clock.h"

namespace muster {

// Time that moves only when told: a sleep takes no time and moves it to its end. Safe from any
// thread.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime wall = {}, MonoTime mono = {}) : mono_(mono), wall_(wall) {}

  MonoTime mono() const override {
    const std::lock_guard lock(mutex_);
    return mono_;
  }
  WallTime wall() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  bool sleep_until(MonoTime until, std::stop_token stop) override {
    const std::lock_guard lock(mutex_);
    if (stop.stop_requested()) return false;
    if (until > mono_) move(until - mono_);
    return true;
  }
  void advance(Duration by) {
    const std::lock_guard lock(mutex_);
    move(by);
  }
  // The wall clock is set, as ntpd or a user does; monotonic time does not see it.
  void set_wall(WallTime wall) {
    const std::lock_guard lock(mutex_);
    wall_ = wall;
  }

 private:
  void move(Duration by) {
    mono_ += by;
    wall_ += by;
  }

  mutable std::mutex mutex_;
  MonoTime mono_;
  WallTime wall_;
};

}  // namespace muster
