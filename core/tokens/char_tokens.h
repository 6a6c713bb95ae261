#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/tokens/merge_table.h"
#include "core/tokens/vocabulary.h"

namespace muster::tokens {

// Characters of several bytes that always become one token before anything else can touch their
// bytes, so that a piece may start from them instead of from its bytes.
//
// A character is of them if its own bytes merge to one token, with R the highest rank on the way,
// and every merge of a part of it (or of the token) with something beside it has a rank above R. What
// may stand beside it is told apart by one bit only: an ASCII byte or another.
class CharTokens {
 public:
  CharTokens(const Vocabulary& vocabulary, const MergeTable& merges,
             const std::vector<std::array<std::uint32_t, 2>>& pairs,
             const std::array<std::uint32_t, 256>& byte_ids);

  static constexpr std::uint32_t kIdMask = (1u << 21) - 1;
  // Set where the neighbour may be of that kind.
  static constexpr std::uint32_t kBehindAscii = 1u << 28, kBehindHigh = 1u << 29;
  static constexpr std::uint32_t kBeforeAscii = 1u << 30, kBeforeHigh = 1u << 31;

  // The token of the character with these marks; 0 where it has none.
  std::uint32_t at(std::uint32_t point) const {
    return pages_[static_cast<std::size_t>(index_[point >> 6]) << 6 | (point & 0x3F)];
  }

 private:
  void set(std::uint32_t point, std::uint32_t value);

  std::array<std::uint16_t, (0x110000 >> 6)> index_{};
  std::vector<std::uint32_t> pages_ = std::vector<std::uint32_t>(64);
};

}  // namespace muster::tokens
