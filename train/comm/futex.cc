#include "train/comm/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace muster::train {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 &&
              std::atomic<std::uint32_t>::is_always_lock_free);

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Duration most) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const std::int64_t ns = most.count() > 0 ? most.count() : 0;
  const timespec wait = {ns / kNsPerSecond, ns % kNsPerSecond};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &wait, nullptr, 0);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace muster::train
