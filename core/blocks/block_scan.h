#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/blocks/pack_manifest.h"

namespace muster::blocks {

// What was counted in some blocks of a pack. Counts of different blocks add up in any order.
struct BlockCounts {
  std::uint64_t blocks = 0;
  std::uint64_t eos_at_ends = 0;  // pieces whose last token is the EOS
  std::uint64_t eos_inside = 0;   // EOS elsewhere in pieces
  std::uint64_t pad_tokens = 0;   // best_fit: tokens in no piece
  std::uint64_t trained_tokens = 0;

  void add(const BlockCounts& more);
};

// Holds whole blocks against their manifest: every id in the vocabulary, and what is of no
// piece the padding id with its loss bits 0. `ends`: the entries of docs.u64 beyond the start of
// the first block up to one beyond the end of the last, in order. `ids` and `loss` as for a
// BlockSink. Errc::invalid_input for an id beyond the vocabulary, Errc::corrupt for all else,
// naming block and token.
Status scan_blocks(const PackManifest& manifest, std::uint64_t first_block,
                   std::span<const std::int32_t> ids, std::span<const std::uint8_t> loss,
                   std::span<const std::uint64_t> ends, BlockCounts& counts);

// The counts of all blocks, and tokens in pieces by docs.u64 (doc_ends.h), against the account of
// the manifest. Errc::corrupt with the first thing that does not agree.
Status check_counts(const PackManifest& manifest, const BlockCounts& counts,
                    std::uint64_t piece_tokens);

}  // namespace muster::blocks
