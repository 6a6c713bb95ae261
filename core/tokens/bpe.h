#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tokens/char_tokens.h"
#include "core/tokens/merge_table.h"

namespace muster::tokens {

// Merges the symbols of one piece: of all pairs that join, the one of the lowest rank first, and of
// several of that rank the leftmost, until none joins. Owns its scratch memory: one for each thread.
//
// Short pieces look for the lowest rank one by one, long ones keep a heap: n log n at worst.
class Merger {
 public:
  // Both must outlive this. `chars` may be null: then a piece starts as its bytes.
  Merger(const MergeTable& merges, const std::array<std::uint32_t, 256>& byte_ids,
         const CharTokens* chars);

  // The ids of `piece`, which is not empty and, with `chars`, valid UTF-8. The view holds until the
  // next call.
  struct Ids {
    const std::uint32_t* data;
    std::size_t count;
  };
  Ids merge(std::string_view piece);

 private:
  void start(std::string_view piece);
  void merge_short();
  void merge_long();

  struct Link {
    std::uint32_t before, behind;  // kEnd: none
    std::uint32_t rank;            // of this symbol with the one behind it
  };
  static constexpr std::uint32_t kEnd = 0xFFFFFFFF;
  void join(std::uint32_t at, std::vector<std::uint64_t>& heap);
  void rate(std::uint32_t at, std::vector<std::uint64_t>& heap);

  const MergeTable& merges_;
  const std::array<std::uint32_t, 256>& byte_ids_;
  const CharTokens* chars_;
  std::vector<std::uint32_t> symbols_;
  std::size_t count_ = 0;
  std::vector<Link> links_;
  std::vector<std::uint64_t> heap_;
};

}  // namespace muster::tokens
