#include "core/tokens/merge_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace muster::tokens {
namespace {

// Hardly any bucket is full; a file that fills so many in a row was built to.
constexpr std::size_t kLooks = 1024;

}  // namespace

MergeTable::MergeTable(std::size_t merges, MemoryAdvice advice)
    : buckets_(std::bit_ceil(std::max<std::size_t>(merges * 3 / 4, 4)), advice),
      mask_(buckets_.size() - 1) {
  for (Bucket& bucket : buckets_) bucket.slots.fill(kFree);
  shift_ = static_cast<unsigned>(64 - std::countr_zero(buckets_.size()));
  products_.reserve(merges);
}

Status MergeTable::add(std::uint32_t left, std::uint32_t right, std::uint32_t product) {
  if (const std::uint32_t other = rank(left, right); other != kNone) {
    return make_error(Errc::invalid_input,
                      fmt::format("merge {} repeats merge {}", count(), other));
  }
  const std::uint64_t key = key_of(left, right);
  std::size_t at = place(key);
  for (std::size_t looks = 0; buckets_[at].slots[3] != kFree; at = (at + 1) & mask_) {
    if (++looks == kLooks) return make_error(Errc::exhausted, "its merges were made to collide");
  }
  auto& slots = buckets_[at].slots;
  *std::find(slots.begin(), slots.end(), kFree) = key << kRankBits | count();
  products_.push_back(product);
  consecutive_ = consecutive_ && product == products_[0] + count() - 1;
  return {};
}

}  // namespace muster::tokens
