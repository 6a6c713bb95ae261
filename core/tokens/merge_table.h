#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "core/tokens/large_table.h"

namespace muster::tokens {

// The merges of a vocabulary: which pairs of ids join, in which order, and to what. Ids are below
// 2^21 and ranks below 2^22 - 1 (base/limits.h), so that a pair and its rank are one word.
//
// Most questions are about pairs that do not join, so an answer looks at four places at once
// without a branch between them; only where all four are taken it goes on.
class MergeTable {
 public:
  static constexpr std::uint32_t kNone = (1u << 22) - 1;

  MergeTable(std::size_t merges, MemoryAdvice advice);

  // Ranks come in order from 0. Errc::invalid_input where the pair has a rank already,
  // Errc::exhausted where a file was made so that its pairs collide.
  Status add(std::uint32_t left, std::uint32_t right, std::uint32_t product);

  std::uint32_t count() const { return static_cast<std::uint32_t>(products_.size()); }
  std::uint32_t product(std::uint32_t rank) const {
    return consecutive_ ? products_[0] + rank : products_[rank];
  }

  // Has rank() of the pair soon.
  void prefetch(std::uint32_t left, std::uint32_t right) const {
    __builtin_prefetch(&buckets_[place(key_of(left, right))]);
  }
  // The rank of the pair, kNone where it does not join.
  std::uint32_t rank(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = place(key);; at = (at + 1) & mask_) {
      const Bucket& bucket = buckets_[at];
      std::uint64_t found = kFree;
      for (const std::uint64_t slot : bucket.slots) found = slot >> kRankBits == key ? slot : found;
      if (found != kFree || bucket.slots[3] == kFree) {
        return static_cast<std::uint32_t>(found) & kNone;
      }
    }
  }

 private:
  static constexpr unsigned kRankBits = 22, kIdBits = 21;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct alignas(32) Bucket {
    std::array<std::uint64_t, 4> slots;
  };

  static std::uint64_t key_of(std::uint32_t left, std::uint32_t right) {
    return static_cast<std::uint64_t>(left) << kIdBits | right;
  }
  std::size_t place(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> shift_);
  }

  LargeTable<Bucket> buckets_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::vector<std::uint32_t> products_;
  bool consecutive_ = true;  // products count up with their ranks: no need to look
};

}  // namespace muster::tokens
