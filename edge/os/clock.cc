#include "edge/os/clock.h"

#include <condition_variable>
#include <ctime>
#include <mutex>

namespace muster {
namespace {

std::int64_t read_ns(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return static_cast<std::int64_t>(ts.tv_sec) * 1'000'000'000 + ts.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  MonoTime mono() const override { return MonoTime(Duration(read_ns(CLOCK_BOOTTIME))); }
  WallTime wall() const override { return WallTime(Duration(read_ns(CLOCK_REALTIME))); }
  bool sleep_until(MonoTime until, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    for (MonoTime now = mono(); now < until && !stop.stop_requested(); now = mono()) {
      wake.wait_for(lock, stop, until - now, [] { return false; });
    }
    return !stop.stop_requested();
  }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace muster
