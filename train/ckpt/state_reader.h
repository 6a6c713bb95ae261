#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "train/ckpt/save_disk.h"
#include "train/fsdp/sharded_state.h"

namespace muster::train {

// The exact state that `world` ranks saved into `folder`, of which this rank reads its own ranges:
// of the file of its number where the world is the same, else of all that it overlaps.
// Errc::invalid_input: of another plan. Errc::unsupported: saved in f32 for a run in f64, or the
// other way. After a failure the state is not to be used.
Status load_exact_state(SaveDisk& disk, const std::string& folder, std::uint64_t world,
                        ShardedState& state);

}  // namespace muster::train
