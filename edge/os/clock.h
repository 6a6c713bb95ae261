#pragma once

#include <stop_token>

#include "base/time.h"

namespace muster {

// The only way to the time of the machine. Tests use FakeClock (tests/support/fake_clock.h).
class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonoTime mono() const = 0;
  virtual WallTime wall() const = 0;
  // Returns at `until`, or earlier when `stop` is asked for; true if the time came.
  virtual bool sleep_until(MonoTime until, std::stop_token stop) = 0;
};

// CLOCK_BOOTTIME and CLOCK_REALTIME. Safe from any thread.
Clock& system_clock();

}  // namespace muster
