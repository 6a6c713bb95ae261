#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tokens/char_tokens.h"
#include "core/tokens/merge_table.h"

namespace muster::tokens {

// Merges the symbols of pieces: of all pairs that join, the one of the lowest rank first, and of
// several of that rank the leftmost, until none joins. Owns its scratch memory: one for each
// thread.
//
// Many pieces are merged side by side, because nearly all time of one alone goes by waiting for the
// table of merges: each step of a piece asks for lines of memory, and the steps of the others pass
// until they are there. Long pieces keep a heap: n log n at worst.
class Merger {
 public:
  // All must outlive this. `chars` may be null: then a piece starts as its bytes.
  Merger(const MergeTable& merges, const std::array<std::uint32_t, 256>& byte_ids,
         const CharTokens* chars);

  // Forgets all pieces.
  void clear();
  // Takes in `piece`, which is not empty and, with `chars`, valid UTF-8; returns its number, from
  // 0.
  std::size_t add(std::string_view piece);
  // Merges all that were taken in since clear(), once.
  void run();

  struct Ids {
    const std::uint32_t* data;
    std::size_t count;
  };
  // At `data` so many words may be read, however few the ids are.
  static constexpr std::size_t kReadable = 4;
  // After run(), until clear().
  Ids ids(std::size_t number) const {
    return {symbols_.data() + lanes_[number].begin, lanes_[number].count};
  }

 private:
  // The symbols of one piece: `count` from `begin` on. While a short one is merged each symbol
  // stays in its place, and `changed` is the place of the one that was made last.
  struct Lane {
    std::size_t begin = 0, count = 0;
    std::size_t changed = kNone;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::int32_t key_of(std::uint32_t left, std::uint32_t right, std::size_t at) const;
  void begin_short(const Lane& lane);
  bool step_short(Lane& lane);
  void merge_long(Lane& lane);

  struct Link {
    std::uint32_t before, behind;  // kEnd: none
    std::uint32_t rank;            // of this symbol with the one behind it
  };
  static constexpr std::uint32_t kEnd = 0xFFFFFFFF;
  void join_long(std::uint32_t* symbols, std::uint32_t at);
  bool rate_long(const std::uint32_t* symbols, std::uint32_t at);

  const MergeTable& merges_;
  const std::array<std::uint32_t, 256>& byte_ids_;
  const CharTokens* chars_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> active_;
  std::size_t used_ = 0;  // of the arrays below, which belong to all lanes
  std::vector<std::uint32_t> symbols_;
  std::vector<std::int32_t> keys_;  // the rank of a symbol with the next one, and its place
  std::vector<std::uint8_t> before_, behind_;
  std::vector<Link> links_;
  std::vector<std::uint64_t> heap_;
};

}  // namespace muster::tokens
