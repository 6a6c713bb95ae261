#pragma once

#include <array>
#include <cstdint>

#include "base/limits.h"

namespace muster::blocks {

// The order of the blocks in one epoch: a permutation of [0, N) made by arithmetic from N, seed and
// epoch, without a table, so that every rank of every world size computes the same one and may
// begin anywhere. Part of muster.pack/1 (docs/FORMATS.md has it step by step for readers in other
// languages): a changed bit here changes the data of a run that resumes.
//
// A Feistel network of kRounds rounds permutes [0, 4^h), the least h >= 1 with 4^h >= N; what falls
// beyond N is sent through again until it does not (fewer than four times on average, so O(1)).
// Round i, of halves left and right of h bits:
//   left, right = right, left ^ (mix(right ^ key[i]) & (2^h - 1))
// with mix() the finalizer of splitmix64, and key[i] the (i + 1)-th output of splitmix64 begun at
// mix(seed) ^ epoch.
class BlockOrder {
 public:
  static constexpr int kRounds = 8;  // four make a permutation look random; small halves need more

  // 1 <= blocks <= limits::kPackBlocks.
  BlockOrder(std::uint64_t blocks, std::uint64_t seed, std::uint64_t epoch);

  std::uint64_t blocks() const { return blocks_; }
  // The block at a position of the epoch; position < blocks().
  std::uint64_t at(std::uint64_t position) const;
  // The other way round: at(position_of(b)) == b.
  std::uint64_t position_of(std::uint64_t block) const;

 private:
  std::uint64_t forward(std::uint64_t value) const;
  std::uint64_t backward(std::uint64_t value) const;

  std::uint64_t blocks_;
  int half_bits_ = 1;
  std::uint64_t mask_ = 1;
  std::array<std::uint64_t, kRounds> keys_{};
};

}  // namespace muster::blocks
