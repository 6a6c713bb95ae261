#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace muster::train {

// Sleeps while `word` is `expected`, at most so long; may come back early. The word may lie in
// memory that processes share.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Duration most);
void futex_wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace muster::train
