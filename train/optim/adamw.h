#pragma once

#include <cstddef>
#include <cstdint>

#include "train/model/dtype.h"

namespace muster::train {

// Adam with weight decay apart from the gradient (Loshchilov and Hutter). The numbers are those of
// the Trainer of transformers.
struct AdamW {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
};

// Of one update of all weights.
struct AdamWUpdate {
  std::uint64_t number = 1;   // of this update, from 1: skipped steps do not count
  double learning_rate = 0;   // of this step
  double gradient_scale = 1;  // what the gradient is multiplied with first: of the clip
};

// A run of elements of one tensor. All but `low` are of `dtype`.
struct AdamWRun {
  Dtype dtype = Dtype::f32;  // f32 or f64
  bool decays = true;
  std::uint64_t elements = 0;
  std::byte* master = nullptr;
  std::byte* first_moment = nullptr;
  std::byte* second_moment = nullptr;
  std::byte* gradient = nullptr;  // read once, and left zero for the next step
  std::byte* low = nullptr;       // gets the weights in bf16; null: nobody wants them
};

// Everything in one pass over the memory. The same bits on every processor.
void apply(const AdamW& adamw, const AdamWUpdate& update, const AdamWRun& run);

}  // namespace muster::train
