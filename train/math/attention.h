#pragma once

#include <cstddef>

#include "train/math/number.h"
#include "train/math/products.h"
#include "train/math/row_kernels.h"
#include "train/model/qwen3_config.h"

namespace muster::train {

// Grouped causal attention of one layer, forward and backward, in blocks of queries: a block looks
// only at the keys that its last query sees, so that nearly half of all products is never done, and
// no matrix of all scores ever stands in memory. Backward makes the probabilities again from the
// logarithm of each row's sum.
//
// In memory, for each of sequences x length tokens: `qkv` has heads * head_dim numbers of queries,
// then kv_heads * head_dim of keys and as many of values; `out` has heads * head_dim.
template <typename T>
class Attention {
 public:
  using S = Sum<T>;

  Attention(const Qwen3Config& config, Products& products);

  // Before anything else, and where the shape changes.
  void prepare(std::size_t sequences, std::size_t length);

  // log_sums: sequences x heads x length.
  void forward(const T* qkv, const T* q_norm, const T* k_norm, T* out, S* log_sums);
  // dqkv is written, dq_norm += and dk_norm +=.
  void backward(const T* qkv, const T* q_norm, const T* k_norm, const T* out, const S* log_sums,
                const T* dout, T* dqkv, S* dq_norm, S* dk_norm);

  std::size_t scratch_bytes() const;

 private:
  // Of one key head and the query heads that share it: where they begin in a row.
  struct Group {
    std::size_t token, queries, key, value, out, log_sums;
  };
  Group group(std::size_t sequence, std::size_t kv_head) const;
  ScoreBlock block(std::size_t first) const;
  HeadRows query_rows(const ScoreBlock& block, std::size_t stride) const;
  HeadRows key_rows(std::size_t stride) const;
  void score(const ScoreBlock& block, const T* qkv, const Group& at, const T* q_norm);
  void forward_block(const ScoreBlock& block, const T* qkv, const Group& at, T* out, S* log_sums);
  void backward_block(const ScoreBlock& block, const T* qkv, const Group& at, const T* out,
                      const S* log_sums, const T* dout);

  std::size_t heads_, kv_heads_, head_dim_, shared_, row_;  // row_: of qkv, elements
  S epsilon_, scale_;
  double theta_;
  Products& products_;
  const RowKernels<T>& kernels_;
  std::size_t sequences_ = 0, length_ = 0, block_ = 0;
  Buffer<S> cosines_, sines_;  // length x head_dim / 2
  Buffer<T> queries_, keys_, p_, dscore_, douts_;
  Buffer<S> scores_, dp_, dense_, inverse_, delta_, dkeys_, dvalues_;
};

extern template class Attention<double>;
extern template class Attention<float>;
extern template class Attention<Bf16>;

}  // namespace muster::train
