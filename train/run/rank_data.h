#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/data/block_source.h"

namespace muster::train {

// The blocks of this rank: `folder` is a pack, or holds one .i32 file for each rank of the run
// (blocks of `block_tokens`), numbered in their names from 0 ("rank00.i32", "cache-1.i32").
//
// Errc::invalid_input: files that are not numbered 0 to world - 1, and what the openers refuse.
Result<std::unique_ptr<BlockSource>> open_rank_data(const std::string& folder,
                                                    std::uint64_t block_tokens, const StepCut& cut);

// The .i32 file of a rank among the names of a folder: by the last number in the name.
Result<std::string> name_of_rank(const std::vector<std::string>& names, std::uint64_t rank,
                                 std::uint64_t world);

}  // namespace muster::train
