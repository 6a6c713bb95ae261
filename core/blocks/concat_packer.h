#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "core/blocks/block_sink.h"
#include "core/blocks/token_run.h"

namespace muster::blocks {

// PackMode::concat: documents back to back, cut in blocks of L; token t of the stream is token
// t % L of block t / L. Streaming; holds less than one block.
//
// For builders with threads: a run may be any range of records, encoded by any thread, for only
// their order counts, not where one run ends and the next begins. The place of a run is the sum of
// the tokens of all runs in front of it. add() copies what does not fill a block and hands whole
// blocks on as they lie in the run, so one thread that takes runs in order keeps up with dozens
// that encode (./run bench blocks). The bytes are the same for any number of threads.
//
// To go on after a break: keep next_block() and pending(), then make a packer with that first block
// and add() the pending run.
class ConcatPacker {
 public:
  // `block_tokens` is a multiple of 8, at most limits::kPackBlockTokens.
  ConcatPacker(std::uint32_t block_tokens, BlockSink& sink, std::uint64_t first_block = 0);

  // Fails only with what the sink says. Documents without a token leave no trace in docs.u64.
  Status add(const TokenRun& run);

  std::uint64_t next_block() const { return next_block_; }  // the first that is not handed over yet
  // What does not fill a block yet: after the last run this is the tail, which is not in the pack
  // and must be counted (PackManifest::tail_tokens).
  TokenRun pending() const;

 private:
  Status hand_over(std::span<const std::int32_t> ids, const LossBits& trained, std::uint64_t begin);
  Status give_ends(const TokenRun& run, std::uint64_t run_start);

  std::uint32_t block_tokens_;
  BlockSink& sink_;
  std::uint64_t next_block_;
  std::uint64_t last_end_;           // of the last document that has tokens, in the stream
  TokenRun pending_;                 // its ends stand in ends_
  LossBits shifted_;                 // of whole blocks that begin within a byte
  std::vector<std::uint64_t> ends_;  // in the stream, not given yet
};

}  // namespace muster::blocks
