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
// and every merge of a part of it (or of the token) with something beside it has a rank above R.
// What stands beside it is told apart by kinds (before it a blank, another ASCII byte, or another
// character; behind it ASCII or a group of first bytes), so it may hold beside some and not others.
class CharTokens {
 public:
  CharTokens(const Vocabulary& vocabulary, const MergeTable& merges,
             const std::vector<std::array<std::uint32_t, 2>>& pairs,
             const std::array<std::uint32_t, 256>& byte_ids);

  static constexpr std::uint32_t kIdMask = (1u << 21) - 1;
  // A mark for each kind of neighbour beside which it holds.
  static std::uint32_t mark_before(unsigned char last_byte) {
    return last_byte == ' ' ? 1u << 21 : last_byte < 0x80 ? 1u << 22 : 1u << 23;
  }
  static std::uint32_t mark_behind(unsigned char first_byte) {
    if (first_byte < 0x80) return 1u << 24;
    if (first_byte < 0xE3) return 1u << 25;
    if (first_byte == 0xE3) return 1u << 26;         // kana, punctuation of Han
    if (first_byte < 0xEA) return 1u << 27;          // Han
    return first_byte < 0xEE ? 1u << 28 : 1u << 29;  // Hangul; forms of full width and beyond
  }
  static constexpr std::uint32_t kMarks = ((1u << 9) - 1) << 21;

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
