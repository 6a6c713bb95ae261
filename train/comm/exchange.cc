#include "train/comm/exchange.h"

#include <algorithm>

#include "train/comm/rank_sum.h"

namespace muster::train {
namespace {

// Of all ranks together in one round of a sum: stays in the second cache.
constexpr std::size_t kRoundBytes = 1024 * 1024;
constexpr std::size_t kRoundLeast = 16 * 1024;  // of one rank

}  // namespace

bool Exchange::all_reduce(std::byte* data, std::size_t elements, Dtype dtype) {
  const std::size_t members = ranks().size();
  const std::size_t item = dtype_bytes(dtype);
  const std::size_t round = std::max(kRoundBytes / members, kRoundLeast) / item;
  rounds_.resize(std::min(round, elements) * item * members);
  std::vector<const std::byte*> parts(members);
  for (std::size_t at = 0; at < elements; at += round) {
    const std::size_t n = std::min(round, elements - at);
    std::byte* own = data + at * item;
    if (!gather(own, rounds_.data(), n * item)) return false;
    for (std::size_t i = 0; i < members; ++i) parts[i] = rounds_.data() + i * n * item;
    fold_in_rank_order(parts, own, n, dtype);
  }
  return true;
}

}  // namespace muster::train
