#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "train/data/block_source.h"

namespace muster::train {

// A file of ids that belongs to one rank: little-endian int32, no header, blocks of `block_tokens`
// back to back; what is left behind the last whole one is not used. Every token counts in the loss.
// Ranks may have different numbers of blocks: they agree on the least before the first step.
//
// Errc::invalid_input: a cut that is none, or a file without one whole step.
Result<std::unique_ptr<BlockSource>> open_rank_file(const std::string& path,
                                                    std::uint64_t block_tokens, const StepCut& cut);

}  // namespace muster::train
