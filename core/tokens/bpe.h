#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tokens/merge_table.h"

namespace muster::tokens {

// Merges the bytes of pieces step by step: of all pairs that join, the one of the lowest rank
// first, and of several of that rank the leftmost, until none joins. It is what the ids of a piece
// mean, for any merges: the reference of Cutter, and the way of vocabularies that have no CutTable.
// n log n at worst. Owns its scratch memory: one for each thread.
class Merger {
 public:
  // Both must outlive this.
  Merger(const MergeTable& merges, const std::array<std::uint32_t, 256>& byte_ids);

  // Appends the ids of `piece`, which is not empty.
  void merge(std::string_view piece, std::vector<std::uint32_t>& ids);

 private:
  struct Symbol {
    std::uint32_t id;
    std::uint32_t before, behind;  // kEnd: none
    std::uint32_t rank;            // of this symbol with the one behind it
  };
  static constexpr std::uint32_t kEnd = 0xFFFFFFFF;
  void join(std::uint32_t at);
  bool rate(std::uint32_t at);

  const MergeTable& merges_;
  const std::array<std::uint32_t, 256>& byte_ids_;
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> heap_;  // a rank and a place; stale where the place has another by now
};

}  // namespace muster::tokens
