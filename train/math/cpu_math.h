#pragma once

#include <memory>

#include "train/math/model_math.h"
#include "train/model/qwen3_config.h"

namespace muster::train {

// What forward keeps for backward.
enum class Keep : std::uint8_t {
  everything,
  inputs,  // of layers alone; backward computes each layer again (gradient checkpointing)
};

// ModelMath on one core of this processor: f32 and bf16 over oneDNN, f64 in plain loops for
// comparisons. Weights and activations have the type `compute`; statistics, softmax, loss and all
// sums have sum_dtype(compute). The same input gives the same bits, with either Keep.
//
// Signals: on processors without AVX-512 oneDNN's code uses the stack pointer for its data, and a
// handler on that thread would write over them. Block them there, or take them on a stack of their
// own (sigaltstack).
std::unique_ptr<ModelMath> make_cpu_math(const Qwen3Config& config, Dtype compute, Keep keep);

}  // namespace muster::train
