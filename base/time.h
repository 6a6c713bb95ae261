#pragma once

#include <chrono>
#include <cstdint>

// Points in time without a clock. The tags have no now(), so the core cannot read a clock even by
// mistake: it does not compile. edge/os/clock.h makes values of these types.

namespace muster {

using Duration = std::chrono::nanoseconds;

struct MonoTag {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  static constexpr bool is_steady = true;
};
struct WallTag {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  static constexpr bool is_steady = false;
};

// Nanoseconds since the boot of one host (CLOCK_BOOTTIME: it goes on through a suspend).
using MonoTime = std::chrono::time_point<MonoTag, Duration>;
// Nanoseconds since the Unix epoch, UTC. For people and for joining sources of one host; wall times
// of different hosts are never subtracted without an offset estimate.
using WallTime = std::chrono::time_point<WallTag, Duration>;

constexpr Duration seconds_to_duration(double seconds) {
  return Duration(static_cast<std::int64_t>(seconds * 1e9));
}
constexpr double duration_to_seconds(Duration d) {
  return static_cast<double>(d.count()) / 1e9;
}
constexpr WallTime wall_from_ns(std::int64_t ns) {
  return WallTime(Duration(ns));
}
constexpr std::int64_t wall_to_ns(WallTime t) {
  return t.time_since_epoch().count();
}

}  // namespace muster
