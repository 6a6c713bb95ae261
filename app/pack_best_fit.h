#pragma once

#include <cstdint>
#include <stop_token>

#include "app/pack_files.h"
#include "base/result.h"
#include "core/blocks/best_fit.h"
#include "core/blocks/token_run.h"

namespace muster {

struct BestFitInput {
  PackFiles& spill;          // documents back to back, as concat packs them
  blocks::TokenRun pending;  // what did not fill a block of it
  std::uint64_t spilled_blocks = 0;
  std::uint32_t block_tokens = 2048;
  bool split = false;
  std::int32_t pad = 0;
};

// The second pass of best_fit: plans from the lengths of all documents and writes the blocks in
// their order into `out`; returns the plan. Memory: 48 bytes a document, and one megabyte of
// blocks.
Result<blocks::BestFitPlan> write_best_fit(const BestFitInput& input, PackFiles& out,
                                           const std::stop_token& stop);

}  // namespace muster
