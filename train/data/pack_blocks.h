#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "train/data/block_source.h"

namespace muster::train {

// The folder of a muster.pack/1: one list of blocks for all ranks, so their steps are equal by
// arithmetic; the blocks that are left over at the end of an epoch's order are not used in it.
//
// Files are read by place rather than mapped: a file that is cut while the run reads it is then an
// error and no signal. Errc::not_found: no pack. Errc::corrupt: a file that is not as long as the
// manifest says. Errc::invalid_input: a cut that does not fit.
Result<std::unique_ptr<BlockSource>> open_pack_blocks(const std::string& folder,
                                                      const StepCut& cut);

}  // namespace muster::train
