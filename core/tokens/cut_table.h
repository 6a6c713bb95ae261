#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/tokens/large_table.h"
#include "core/tokens/merge_table.h"
#include "core/tokens/token_trie.h"
#include "core/tokens/vocabulary.h"

namespace muster::tokens {

// What merging leaves of a piece, told without merging it, for vocabularies whose merges are in
// order: a merge comes behind all that make one of its sides. Ranks then only rise while a piece is
// merged, and two things hold.
//
// A border that is left at the end was never crossed, so on each side of it happened what would
// have happened there alone. Hence the tokens that are left are the only row of tokens over these
// bytes in which each one is what merging makes of its own bytes (is "reachable") and each two
// neighbours stay two when these two alone are merged: the first merge that crossed a border of
// such a row would have crossed it between those two as well.
//
// Whether two stay two is told by the sides that meet: at each time one token ends at the border
// and one begins there, and the two join if that pair has a rank that comes up while both are
// there.
class CutTable {
 public:
  // `merges` are in order. Nothing where tokens are made of so many on the way (kDeepest) or begin
  // with so many others (kPrefixes) that a look would take long.
  static std::optional<CutTable> make(const Vocabulary& vocabulary, const MergeTable& merges,
                                      const std::vector<std::array<std::uint32_t, 2>>& pairs,
                                      const std::array<std::uint32_t, 256>& byte_ids,
                                      MemoryAdvice advice);

  // Qwen3 has 8 and 86.
  static constexpr std::uint32_t kDeepest = 128, kPrefixes = 1024;

  // Whether the tokens are ever beside each other while something is merged.
  bool meet(std::uint32_t left, std::uint32_t right, const MergeTable& merges) const {
    return bytes(left) != 0 && bytes(right) != 0 && !crossed(left, right, merges);
  }

  // How many tokens are reachable.
  std::size_t reachable() const { return reachable_; }
  // Of the reachable tokens.
  const TokenTrie& trie() const { return *trie_; }
  // Of a reachable token: the longest shorter one that it begins with; kNone where there is none.
  std::uint32_t shorter(std::uint32_t token) const { return tokens_[token].shorter; }
  std::uint32_t bytes(std::uint32_t token) const { return tokens_[token].bytes; }
  // Has both soon, and back() of a border with it.
  void prefetch(std::uint32_t token) const { __builtin_prefetch(&tokens_[token]); }

  // What meets at a border at some time: a merge of the two crosses it if its rank is below
  // `limit`, when one of them goes on to be something else.
  struct Border {
    std::uint32_t left = 0, right = 0, limit = 0;
  };
  // Goes back to where what was made last was not yet; false where nothing was. Of the same rank a
  // pair joins before another one only if it stands to the left of it.
  bool back(Border& border) const {
    const Token& left = tokens_[border.left];
    const Token& right = tokens_[border.right];
    const std::uint32_t left_made = left.made(), right_made = right.made();
    if (left_made > right_made) {
      border = {left.right(), border.right, left_made - 1};
      prefetch(border.left);
      return true;
    }
    if (right_made == 0) return false;
    border = {border.left, right.left(), right_made};
    prefetch(border.right);
    return true;
  }

  // The lowest rank of a merge of a token that ends with `last` and one that begins with `first`.
  std::uint32_t lowest(unsigned char last, unsigned char first) const {
    return lowest_[static_cast<std::size_t>(last) << 8 | first];
  }

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

 private:
  static constexpr unsigned kIdBits = 21;
  struct alignas(16) Token {
    std::uint64_t sides = 0;  // when it is made (the rank of its merge + 1), of what left and right
    std::uint32_t shorter = kNone;
    std::uint32_t bytes = 0;  // 0: not reachable

    std::uint32_t made() const { return static_cast<std::uint32_t>(sides >> 2 * kIdBits); }
    std::uint32_t left() const {
      return static_cast<std::uint32_t>(sides >> kIdBits) & ((1u << kIdBits) - 1);
    }
    std::uint32_t right() const {
      return static_cast<std::uint32_t>(sides) & ((1u << kIdBits) - 1);
    }
  };

  explicit CutTable(std::size_t ids, MemoryAdvice advice) : tokens_(ids, advice) {}
  bool crossed(std::uint32_t left, std::uint32_t right, const MergeTable& merges) const;
  bool derive(const MergeTable& merges, const std::vector<std::array<std::uint32_t, 2>>& pairs);
  bool find_shorter(const Vocabulary& vocabulary);

  LargeTable<Token> tokens_;
  std::size_t reachable_ = 0;
  std::optional<TokenTrie> trie_;
  std::vector<std::uint32_t> lowest_;
};

}  // namespace muster::tokens
