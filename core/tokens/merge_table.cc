#include "core/tokens/merge_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace muster::tokens {
namespace {

// A table at most half full needs a handful of looks; a file that makes it this many was built to.
constexpr std::size_t kLooks = 1024;

}  // namespace

MergeTable::MergeTable(std::size_t merges)
    : slots_(std::bit_ceil(std::max<std::size_t>(merges * 2, 16)), kFree), mask_(slots_.size() - 1) {
  shift_ = static_cast<unsigned>(64 - std::countr_zero(slots_.size()));
  products_.reserve(merges);
}

Status MergeTable::add(std::uint32_t left, std::uint32_t right, std::uint32_t product) {
  const std::uint64_t key = key_of(left, right);
  std::size_t at = place(key);
  for (std::size_t looks = 0; slots_[at] != kFree; ++looks, at = (at + 1) & mask_) {
    if (slots_[at] >> kRankBits == key) {
      return make_error(Errc::invalid_input, fmt::format("merge {} repeats merge {}", count(),
                                                         slots_[at] & kNone));
    }
    if (looks == kLooks) return make_error(Errc::exhausted, "its merges were made to collide");
  }
  slots_[at] = key << kRankBits | count();
  products_.push_back(product);
  return {};
}

}  // namespace muster::tokens
