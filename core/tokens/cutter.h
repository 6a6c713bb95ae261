#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/tokens/cut_table.h"
#include "core/tokens/merge_table.h"

namespace muster::tokens {

// Cuts pieces into the tokens that merging would leave of them (cut_table.h says why they are the
// same). Owns its scratch memory: one for each thread.
//
// From the left the longest token is taken that stays apart from the one before it. Where none
// does, that place is no border at all, so what led there is taken back, and no later try ends
// there again. Each place is come to once: time grows with the piece, whatever it is.
//
// Many pieces are cut side by side, because nearly all time of one alone goes by waiting for
// memory: each step of a piece asks for the lines of its next one, and the steps of the others pass
// until they are there.
class Cutter {
 public:
  // Both must outlive this.
  Cutter(const CutTable& table, const MergeTable& merges) : table_(table), merges_(merges) {}

  // Forgets all pieces.
  void clear();
  // Takes in `piece`, which is not empty and must outlive run(); returns its number, from 0.
  std::size_t add(std::string_view piece);
  // Cuts all that were taken in since clear(), once.
  void run();
  // After run(), until clear().
  std::span<const std::uint32_t> ids(std::size_t number) const {
    return {ids_.data() + lanes_[number].begin, lanes_[number].count};
  }

 private:
  // One piece. It is walked down the trie for the longest token behind those that are taken, then
  // that one and the shorter ones are judged: whether they stay apart from the one before.
  struct Lane {
    std::string_view rest;  // of the piece, behind the tokens that are taken
    TokenTrie::Walk walk;
    CutTable::Border border;
    std::uint32_t token = 0;    // that is judged
    std::uint32_t first = 0;    // of those that are
    bool known = false;         // the token is the one to take; kNone: none of them
    std::size_t count = 0;      // ids that are taken
    std::size_t begin, closed;  // of its ids, and of its bits
    std::size_t size;           // bytes of the piece
  };
  enum class Verdict : std::uint8_t { open, taken, done };

  bool step(Lane& lane);
  void begin_judging(Lane& lane);
  Verdict judge(Lane& lane);
  Verdict take(Lane& lane);
  Verdict go_back(Lane& lane);
  std::uint32_t last_of(const Lane& lane) const { return ids_[lane.begin + lane.count - 1]; }
  std::uint64_t& closed_word(const Lane& lane, std::size_t at) {
    return closed_[lane.closed + at / 64];
  }

  // Of a token, and the longest one behind it that comes into question: which one is taken. Nothing
  // grows: a newcomer takes the place of an older one.
  struct Known {
    std::uint32_t left = kNone, first = 0, token = 0;
  };
  static constexpr std::uint32_t kNone = CutTable::kNone;
  static constexpr unsigned kKnownBits = 14;
  Known& known(std::uint32_t left, std::uint32_t first) {
    const std::uint64_t both = static_cast<std::uint64_t>(left) << 32 | first;
    return known_[both * 0x9E3779B97F4A7C15u >> (64 - kKnownBits)];
  }
  void remember(const Lane& lane, std::uint32_t token) {
    known(last_of(lane), lane.first) = {last_of(lane), lane.first, token};
  }

  const CutTable& table_;
  const MergeTable& merges_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> walking_, judging_;  // numbers of lanes
  std::vector<std::uint32_t> ids_;
  std::size_t used_ = 0;  // of ids_
  std::vector<Known> known_ = std::vector<Known>(1u << kKnownBits);
  std::vector<std::uint64_t> closed_;  // a bit for each place that is no border
};

}  // namespace muster::tokens
