#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/tokens/tokenizer.h"
#include "train/comm/communicator.h"
#include "train/fsdp/sharded_state.h"
#include "train/math/model_math.h"

namespace muster::train {

// The most likely continuation, token by token, until `end` or `most` tokens. All ranks of `shards`
// call it and get the same; weights are gathered unit by unit for each token, so no rank holds more
// than in training. For a sample at the end of a run, not for serving.
Result<std::vector<std::int32_t>> continue_ids(ModelMath& math, const ShardedState& state,
                                               Communicator& shards,
                                               std::span<const std::int32_t> prompt,
                                               std::int32_t end, std::uint64_t most);

// tokenizer.json, or the one in this folder.
Result<std::unique_ptr<const Tokenizer>> load_tokenizer(const std::string& path);

}  // namespace muster::train
