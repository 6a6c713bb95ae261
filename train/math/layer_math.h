#pragma once

#include <cstddef>

#include "train/math/attention.h"
#include "train/math/number.h"
#include "train/math/products.h"
#include "train/model/qwen3_config.h"
#include "train/model/unit_plan.h"

namespace muster::train {

// The tensors of a layer's unit, weights or gradients. q, k and v are one matrix, and so are gate
// and up.
template <typename P>
struct LayerParts {
  P *qkv, *out, *q_norm, *k_norm, *gate_up, *down, *input_norm, *post_norm;

  static LayerParts of(const Unit& unit, P* memory) {
    const auto at = [&](std::size_t tensor) { return memory + unit.tensors[tensor].offset; };
    return {at(0), at(3), at(4), at(5), at(6), at(8), at(9), at(10)};
  }
};

// What backward of a layer needs of its forward, beside the layer's input.
template <typename T>
struct LayerSaved {
  using S = Sum<T>;
  Buffer<T> qkv, heads, middle, gate_up;  // middle: behind attention, before the second norm
  Buffer<S> log_sums, input_inverse, post_inverse;

  void resize(const Qwen3Config& config, std::size_t tokens);
  std::size_t bytes() const;
};

// Forward and backward of one decoder layer. Scratch memory is shared by all layers.
template <typename T>
class LayerMath {
 public:
  using S = Sum<T>;

  LayerMath(const Qwen3Config& config, Products& products);

  void prepare(std::size_t sequences, std::size_t length);

  // Everything up to gate and up, from the layer's input x: tokens x hidden.
  void keep(const LayerParts<const T>& weights, const T* x, LayerSaved<T>& saved);
  // The rest: y, the layer's output.
  void finish(const LayerParts<const T>& weights, const LayerSaved<T>& saved, T* y);
  // `d`: the gradient of y, then that of x. Gradients of weights are added up.
  void backward(const LayerParts<const T>& weights, const T* x, const LayerSaved<T>& saved,
                const LayerParts<S>& gradients, S* d);

  std::size_t scratch_bytes() const;

 private:
  const T* rounded(const S* d);
  void feed_back(const LayerParts<const T>& weights, const LayerSaved<T>& saved,
                 const LayerParts<S>& gradients, S* d);
  void attend_back(const LayerParts<const T>& weights, const T* x, const LayerSaved<T>& saved,
                   const LayerParts<S>& gradients, S* d);

  std::size_t hidden_, inner_, queries_, row_;  // row_: of q, k and v together
  S epsilon_;
  Products& products_;
  const RowKernels<T>& kernels_;
  Attention<T> attention_;
  std::size_t tokens_ = 0;
  Buffer<T> normed_, gated_, dgated_, dgate_up_, dheads_, dqkv_, rounded_;
  Buffer<S> dnormed_;
};

extern template class LayerMath<double>;
extern template class LayerMath<float>;
extern template class LayerMath<Bf16>;
extern template struct LayerSaved<double>;
extern template struct LayerSaved<float>;
extern template struct LayerSaved<Bf16>;

}  // namespace muster::train
