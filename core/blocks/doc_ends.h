#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

// docs.u64: for each piece of text the position behind its last token in the N * L tokens of the
// pack, strictly rising, little-endian u64, no header. A piece is a document, or with
// best_fit_split a part of one. With concat a piece begins where the one before it ended, and
// blocks cut it; a document whose end is in the tail has no entry, its first part is in the blocks
// all the same. With best_fit no piece crosses a block, and what is left of a block is padding:
//
//   begin(j) = max(end(j - 1), start of the block of end(j) - 1)      0 for end(-1)

namespace muster::blocks {

// Reads the entries of a pack in order and holds them against the rules above.
class DocEndsCheck {
 public:
  // `in_blocks`: no piece crosses a block (best_fit).
  DocEndsCheck(std::uint64_t tokens, std::uint32_t block_tokens, bool in_blocks);
  // In order, any number at a time. Errc::corrupt, naming the entry.
  Status add(std::span<const std::uint64_t> ends);

  std::uint64_t pieces() const { return pieces_; }
  std::uint64_t last_end() const { return last_; }
  // Tokens in pieces: with concat last_end(), with best_fit without the padding.
  std::uint64_t piece_tokens() const { return piece_tokens_; }

 private:
  std::uint64_t tokens_;
  std::uint32_t block_tokens_;
  bool in_blocks_;
  std::uint64_t pieces_ = 0, last_ = 0, piece_tokens_ = 0;
};

// The pieces of one block for attention that does not look across documents: 0, then where each
// piece in the block ends, the last L. A run of padding is a piece of its own. `ends` holds at
// least the entries within the block, in order; others are passed over.
void block_boundaries(std::span<const std::uint64_t> ends, std::uint64_t block,
                      std::uint32_t block_tokens, std::vector<std::uint32_t>& out);

}  // namespace muster::blocks
