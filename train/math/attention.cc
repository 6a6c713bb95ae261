#include "train/math/attention.h"

#include <algorithm>
#include <cmath>

namespace muster::train {
namespace {

// Query rows of a block, of all heads that share a key: enough for the products to run at full
// speed, few enough for their scores to stay in the cache.
constexpr std::size_t kBlockRows = 256;

}  // namespace

template <typename T>
Attention<T>::Attention(const Qwen3Config& config, Products& products)
    : heads_(config.heads),
      kv_heads_(config.kv_heads),
      head_dim_(config.head_dim),
      shared_(config.heads / config.kv_heads),
      row_((config.heads + 2 * config.kv_heads) * config.head_dim),
      epsilon_(static_cast<S>(config.norm_epsilon)),
      scale_(static_cast<S>(1 / std::sqrt(static_cast<double>(config.head_dim)))),
      theta_(config.rope_theta),
      products_(products),
      kernels_(row_kernels<T>()) {}

template <typename T>
void Attention<T>::prepare(std::size_t sequences, std::size_t length) {
  sequences_ = sequences;
  if (length == length_) return;
  length_ = length;
  block_ = std::min(length, std::max<std::size_t>(16, kBlockRows / shared_));
  const std::size_t half = head_dim_ / 2, rows = block_ * shared_;
  cosines_.resize(length * half);
  sines_.resize(length * half);
  for (std::size_t position = 0; position < length; ++position) {
    for (std::size_t i = 0; i < half; ++i) {
      const double turns = static_cast<double>(i) / static_cast<double>(half);
      const double angle = static_cast<double>(position) * std::pow(theta_, -turns);
      cosines_[position * half + i] = static_cast<S>(std::cos(angle));
      sines_[position * half + i] = static_cast<S>(std::sin(angle));
    }
  }
  queries_.resize(rows * head_dim_);
  douts_.resize(rows * head_dim_);
  dense_.resize(rows * head_dim_);
  inverse_.resize(rows);
  delta_.resize(rows);
  scores_.resize(rows * length);
  dp_.resize(rows * length);
  p_.resize(rows * length);
  dscore_.resize(rows * length);
  keys_.resize(length * head_dim_);
  dkeys_.resize(length * head_dim_);
  dvalues_.resize(length * head_dim_);
}

template <typename T>
std::size_t Attention<T>::scratch_bytes() const {
  const std::size_t of_t =
      queries_.size() + keys_.size() + p_.size() + dscore_.size() + douts_.size();
  const std::size_t of_s = cosines_.size() + sines_.size() + scores_.size() + dp_.size() +
                           dense_.size() + inverse_.size() + delta_.size() + dkeys_.size() +
                           dvalues_.size();
  return of_t * sizeof(T) + of_s * sizeof(S);
}

template <typename T>
typename Attention<T>::Group Attention<T>::group(std::size_t sequence, std::size_t kv_head) const {
  const std::size_t token = sequence * length_, queries = kv_head * shared_ * head_dim_;
  const std::size_t row = token * row_, key = (heads_ + kv_head) * head_dim_;
  return {token,
          row + queries,
          row + key,
          row + key + kv_heads_ * head_dim_,
          token * heads_ * head_dim_ + queries,
          (token * kv_heads_ + kv_head * length_) * shared_};
}

template <typename T>
ScoreBlock Attention<T>::block(std::size_t first) const {
  const std::size_t tokens = std::min(block_, length_ - first);
  return {first, tokens, shared_, first + tokens};
}

template <typename T>
HeadRows Attention<T>::query_rows(const ScoreBlock& block, std::size_t stride) const {
  return {block.tokens, shared_, head_dim_, stride};
}

template <typename T>
HeadRows Attention<T>::key_rows(std::size_t stride) const {
  return {length_, 1, head_dim_, stride};
}

// queries_ and scores_ of a block; keys_ are there.
template <typename T>
void Attention<T>::score(const ScoreBlock& block, const T* qkv, const Group& at, const T* q_norm) {
  const std::size_t angles = block.first * (head_dim_ / 2);
  kernels_.turn(query_rows(block, row_), qkv + at.queries + block.first * row_, q_norm,
                cosines_.data() + angles, sines_.data() + angles, queries_.data(), epsilon_);
  products_.run({Form::nt, block.tokens * shared_, block.keys, head_dim_, head_dim_, head_dim_,
                 block.keys, false},
                queries_.data(), keys_.data(), scores_.data());
}

template <typename T>
void Attention<T>::forward_block(const ScoreBlock& block, const T* qkv, const Group& at, T* out,
                                 S* log_sums) {
  kernels_.soften(block, scores_.data(), p_.data(), log_sums + at.log_sums + block.first * shared_,
                  inverse_.data(), scale_);
  products_.run(
      {Form::nn, block.tokens * shared_, head_dim_, block.keys, block.keys, row_, head_dim_, false},
      p_.data(), qkv + at.value, dense_.data());
  const std::size_t stride = heads_ * head_dim_;
  kernels_.spread(query_rows(block, stride), dense_.data(), inverse_.data(),
                  out + at.out + block.first * stride);
}

template <typename T>
void Attention<T>::forward(const T* qkv, const T* q_norm, const T* k_norm, T* out, S* log_sums) {
  for (std::size_t sequence = 0; sequence < sequences_; ++sequence) {
    for (std::size_t kv_head = 0; kv_head < kv_heads_; ++kv_head) {
      const Group at = group(sequence, kv_head);
      kernels_.turn(key_rows(row_), qkv + at.key, k_norm, cosines_.data(), sines_.data(),
                    keys_.data(), epsilon_);
      for (std::size_t first = 0; first < length_; first += block_) {
        score(block(first), qkv, at, q_norm);
        forward_block(block(first), qkv, at, out, log_sums);
      }
    }
  }
}

// dvalues_ += and dkeys_ += of a block, dense_ = gradient of its turned queries.
template <typename T>
void Attention<T>::backward_block(const ScoreBlock& block, const T* qkv, const Group& at,
                                  const T* out, const S* log_sums, const T* dout) {
  const std::size_t stride = heads_ * head_dim_, rows = block.tokens * shared_;
  const std::size_t begin = at.out + block.first * stride;
  kernels_.collect(query_rows(block, stride), dout + begin, out + begin, douts_.data(),
                   delta_.data());
  products_.run({Form::nt, rows, block.keys, head_dim_, head_dim_, row_, block.keys, false},
                douts_.data(), qkv + at.value, dp_.data());
  kernels_.soften_backward(block, scores_.data(), log_sums + at.log_sums + block.first * shared_,
                           dp_.data(), delta_.data(), p_.data(), dscore_.data(), scale_);
  products_.run({Form::tn, block.keys, head_dim_, rows, block.keys, head_dim_, head_dim_, true},
                p_.data(), douts_.data(), dvalues_.data());
  products_.run({Form::nn, rows, head_dim_, block.keys, block.keys, head_dim_, head_dim_, false},
                dscore_.data(), keys_.data(), dense_.data());
  products_.run({Form::tn, block.keys, head_dim_, rows, block.keys, head_dim_, head_dim_, true},
                dscore_.data(), queries_.data(), dkeys_.data());
}

template <typename T>
void Attention<T>::backward(const T* qkv, const T* q_norm, const T* k_norm, const T* out,
                            const S* log_sums, const T* dout, T* dqkv, S* dq_norm, S* dk_norm) {
  for (std::size_t sequence = 0; sequence < sequences_; ++sequence) {
    for (std::size_t kv_head = 0; kv_head < kv_heads_; ++kv_head) {
      const Group at = group(sequence, kv_head);
      kernels_.turn(key_rows(row_), qkv + at.key, k_norm, cosines_.data(), sines_.data(),
                    keys_.data(), epsilon_);
      std::fill(dkeys_.begin(), dkeys_.end(), S{0});
      std::fill(dvalues_.begin(), dvalues_.end(), S{0});
      for (std::size_t first = 0; first < length_; first += block_) {
        const ScoreBlock now = block(first);
        const std::size_t angles = first * (head_dim_ / 2), begin = at.queries + first * row_;
        score(now, qkv, at, q_norm);
        backward_block(now, qkv, at, out, log_sums, dout);
        kernels_.turn_backward(query_rows(now, row_), qkv + begin, q_norm, cosines_.data() + angles,
                               sines_.data() + angles, dense_.data(), dqkv + begin, dq_norm,
                               epsilon_);
      }
      kernels_.turn_backward(key_rows(row_), qkv + at.key, k_norm, cosines_.data(), sines_.data(),
                             dkeys_.data(), dqkv + at.key, dk_norm, epsilon_);
      kernels_.spread(key_rows(row_), dvalues_.data(), nullptr, dqkv + at.value);
    }
  }
}

template class Attention<double>;
template class Attention<float>;
template class Attention<Bf16>;

}  // namespace muster::train
