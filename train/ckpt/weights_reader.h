#pragma once

#include <string>

#include "base/result.h"
#include "train/ckpt/save_disk.h"
#include "train/fsdp/sharded_state.h"

namespace muster::train {

// load_weights() from any disk. Errc::not_found: a tensor of the plan stands in no file, by name.
// Errc::invalid_input: another shape. Errc::unsupported: numbers that are not bf16, f16, f32 or
// f64, or weights that are pickles (.bin). Tensors that the plan does not have are passed over.
// After a failure the state is not to be used.
Status load_weights_from(SaveDisk& disk, const std::string& folder, ShardedState& state);

}  // namespace muster::train
