#pragma once

#include <memory>

#include "train/math/model_math.h"
#include "train/model/qwen3_config.h"

namespace muster::testing_support {

// A small function of all weights of a plan with exact gradients, in place of the mathematics of
// the model: an embedding, layers of one curve for each column, and a head with a softmax. A
// thousand times cheaper than attention, and every weight matters.
std::unique_ptr<train::ModelMath> make_toy_math(const train::Qwen3Config& config,
                                                train::Dtype compute);

}  // namespace muster::testing_support
