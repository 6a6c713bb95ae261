#include "core/blocks/best_fit.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace muster::blocks {
namespace {

// Blocks by the room that they have left, 1 to L; finds the least room that takes a piece.
class RoomIndex {
 public:
  explicit RoomIndex(std::uint32_t block_tokens)
      : heads_(block_tokens + 1, kNone),
        bits_(block_tokens / 64 + 1, 0),
        words_(bits_.size() / 64 + 1, 0) {}

  void put(std::uint64_t block, std::uint32_t room) {
    if (next_.size() <= block) next_.resize(block + 1, kNone);
    next_[block] = heads_[room];
    heads_[room] = block;
    set(bits_, room);
    set(words_, room / 64);
  }

  // The block with the least room of at least `least`, taken out; false where there is none.
  bool take(std::uint32_t least, std::uint64_t& block, std::uint32_t& room) {
    std::size_t word = least / 64;
    std::uint64_t bits = bits_[word] & (~std::uint64_t{0} << (least % 64));
    if (bits == 0) {
      const std::size_t found = first_set(words_, word + 1);
      if (found >= bits_.size()) return false;
      word = found;
      bits = bits_[word];
    }
    room =
        static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
    block = heads_[room];
    heads_[room] = next_[block];
    if (heads_[room] == kNone) {
      clear(bits_, room);
      if (bits_[word] == 0) clear(words_, word);
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  static void set(std::vector<std::uint64_t>& bits, std::size_t at) {
    bits[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  static void clear(std::vector<std::uint64_t>& bits, std::size_t at) {
    bits[at / 64] &= ~(std::uint64_t{1} << (at % 64));
  }
  // The first set bit from `at` on, or one beyond all.
  static std::size_t first_set(const std::vector<std::uint64_t>& bits, std::size_t at) {
    std::uint64_t mask = ~std::uint64_t{0} << (at % 64);
    for (std::size_t word = at / 64; word < bits.size(); ++word, mask = ~std::uint64_t{0}) {
      const std::uint64_t rest = bits[word] & mask;
      if (rest != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(rest));
    }
    return bits.size() * 64;
  }

  std::vector<std::uint64_t> heads_;  // by room, the block on top of those that have it
  std::vector<std::uint64_t> next_;   // by block, the one below it
  std::vector<std::uint64_t> bits_;   // rooms that some block has
  std::vector<std::uint64_t> words_;  // words of bits_ that are not 0
};

// The pieces by length, longest first; equals in their order. A counting sort: lengths are 1 to L.
std::vector<std::uint64_t> longest_first(const std::vector<PiecePlace>& pieces,
                                         std::uint32_t block_tokens) {
  std::vector<std::uint64_t> begin(block_tokens + 2, 0);
  for (const PiecePlace& piece : pieces) ++begin[block_tokens - piece.tokens + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::uint64_t> out(pieces.size());
  for (std::uint64_t i = 0; i < pieces.size(); ++i)
    out[begin[block_tokens - pieces[i].tokens]++] = i;
  return out;
}

void cut(std::uint64_t length, std::uint32_t block_tokens, bool split, BestFitPlan& plan) {
  while (length > block_tokens) {
    plan.pieces.push_back({0, 0, block_tokens});
    length -= block_tokens;
    if (split) continue;
    plan.truncated_tokens += length;
    ++plan.truncated_documents;
    return;
  }
  if (length > 0) plan.pieces.push_back({0, 0, static_cast<std::uint32_t>(length)});
}

}  // namespace

BestFitPlan plan_best_fit(std::span<const std::uint64_t> lengths, std::uint32_t block_tokens,
                          bool split) {
  MUSTER_CHECK(block_tokens >= 1, "checked where L comes in");
  BestFitPlan plan;
  plan.pieces.reserve(lengths.size());
  for (const std::uint64_t length : lengths) cut(length, block_tokens, split, plan);
  RoomIndex rooms(block_tokens);
  std::uint64_t filled = 0;
  for (const std::uint64_t index : longest_first(plan.pieces, block_tokens)) {
    PiecePlace& piece = plan.pieces[index];
    std::uint32_t room = block_tokens;
    if (!rooms.take(piece.tokens, piece.block, room)) {
      piece.block = plan.blocks++;
      room = block_tokens;
    }
    piece.offset = block_tokens - room;
    if (room > piece.tokens) rooms.put(piece.block, room - piece.tokens);
    filled += piece.tokens;
  }
  plan.pad_tokens = plan.blocks * block_tokens - filled;
  return plan;
}

std::vector<std::uint64_t> piece_ends(const BestFitPlan& plan, std::uint32_t block_tokens) {
  std::vector<std::uint64_t> out;
  out.reserve(plan.pieces.size());
  for (const PiecePlace& piece : plan.pieces) {
    out.push_back(piece.block * block_tokens + piece.offset + piece.tokens);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace muster::blocks
