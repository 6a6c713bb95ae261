#pragma once

#include <cstdint>
#include <functional>

namespace muster {

// Told from time to time how many tokens of all are done, by one thread at a time. False: stop, as
// somebody asked for it; what was asked for then fails with Errc::unavailable.
using TokenProgress = std::function<bool(std::uint64_t done_tokens, std::uint64_t all_tokens)>;

}  // namespace muster
