#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "train/math/number.h"
#include "train/math/products.h"
#include "train/math/row_kernels.h"
#include "train/model/qwen3_config.h"

namespace muster::train {

// The last norm, the product with the vocabulary, and the loss. Logits and their gradients stand in
// the same memory, tokens x vocabulary, once; of bf16 some rows at a time are made in f32.
template <typename T>
class HeadMath {
 public:
  using S = Sum<T>;

  HeadMath(const Qwen3Config& config, Products& products);

  void prepare(std::size_t tokens);

  // x: tokens x hidden. `labels`: -1 for none. The sum of -ln p(label); what backward needs is
  // kept, times `scale`.
  double forward(const T* x, const T* norm, const T* matrix, std::span<const std::int32_t> labels,
                 S scale);
  // `d` is written: the gradient of x. dnorm += and dmatrix +=.
  void backward(const T* x, const T* norm, const T* matrix, S* dnorm, S* dmatrix, S* d);

  void logits(const T* x, const T* norm, const T* matrix, std::span<double> out);  // of one token

  std::size_t scratch_bytes() const;

 private:
  std::size_t hidden_, vocabulary_;
  S epsilon_;
  Products& products_;
  const RowKernels<T>& kernels_;
  std::size_t tokens_ = 0, rows_at_once_ = 0;
  Buffer<T> normed_, dlogits_;
  Buffer<S> inverse_, wide_logits_, dnormed_;
};

extern template class HeadMath<double>;
extern template class HeadMath<float>;
extern template class HeadMath<Bf16>;

}  // namespace muster::train
