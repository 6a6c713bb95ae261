#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster::blocks {

// Where a piece of a document goes: tokens [offset, offset + tokens) of the block.
struct PiecePlace {
  std::uint64_t block = 0;
  std::uint32_t offset = 0;
  std::uint32_t tokens = 0;

  bool operator==(const PiecePlace&) const = default;
};

// PackMode::best_fit and best_fit_split, planned from lengths alone: longest first (among equals in
// the order of the documents), each into the block with the least room that takes it, else into a
// new one. The plan depends on the lengths and nothing else. O(n log L) time, 16 bytes a piece.
//
// For builders: encode once, keep the ids of documents back to back (a spill file) with their
// lengths; then any thread may copy any document to block * L + offset of blocks.i32, for no two
// places overlap. What no piece covers is padding, with loss bits 0.
struct BestFitPlan {
  std::uint64_t blocks = 0;
  // In the order of the documents; without split one for each that has tokens, else
  // ceil(length / L) of them, the last the shorter one.
  std::vector<PiecePlace> pieces;
  std::uint64_t pad_tokens = 0;
  std::uint64_t truncated_tokens = 0, truncated_documents = 0;  // 0 with split
};
BestFitPlan plan_best_fit(std::span<const std::uint64_t> lengths, std::uint32_t block_tokens,
                          bool split);

// docs.u64 of a plan: the ends of its pieces, rising.
std::vector<std::uint64_t> piece_ends(const BestFitPlan& plan, std::uint32_t block_tokens);

}  // namespace muster::blocks
