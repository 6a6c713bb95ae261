#include "train/math/layer_math.h"

#include <algorithm>
#include <type_traits>

namespace muster::train {

template <typename T>
void LayerSaved<T>::resize(const Qwen3Config& config, std::size_t tokens) {
  qkv.resize(tokens * (config.heads + 2 * config.kv_heads) * config.head_dim);
  heads.resize(tokens * config.heads * config.head_dim);
  middle.resize(tokens * config.hidden);
  gate_up.resize(tokens * 2 * config.intermediate);
  log_sums.resize(tokens * config.heads);
  input_inverse.resize(tokens);
  post_inverse.resize(tokens);
}

template <typename T>
std::size_t LayerSaved<T>::bytes() const {
  return (qkv.size() + heads.size() + middle.size() + gate_up.size()) * sizeof(T) +
         (log_sums.size() + input_inverse.size() + post_inverse.size()) * sizeof(S);
}

template <typename T>
LayerMath<T>::LayerMath(const Qwen3Config& config, Products& products)
    : hidden_(config.hidden),
      inner_(config.intermediate),
      queries_(config.heads * config.head_dim),
      row_((config.heads + 2 * config.kv_heads) * config.head_dim),
      epsilon_(static_cast<S>(config.norm_epsilon)),
      products_(products),
      kernels_(row_kernels<T>()),
      attention_(config, products) {}

template <typename T>
void LayerMath<T>::prepare(std::size_t sequences, std::size_t length) {
  attention_.prepare(sequences, length);
  tokens_ = sequences * length;
  normed_.resize(tokens_ * hidden_);
  gated_.resize(tokens_ * inner_);
  dgated_.resize(tokens_ * inner_);
  dgate_up_.resize(tokens_ * 2 * inner_);
  dheads_.resize(tokens_ * queries_);
  dqkv_.resize(tokens_ * row_);
  if constexpr (!std::is_same_v<T, S>) rounded_.resize(tokens_ * hidden_);
  dnormed_.resize(tokens_ * hidden_);
}

template <typename T>
std::size_t LayerMath<T>::scratch_bytes() const {
  return (normed_.size() + gated_.size() + dgated_.size() + dgate_up_.size() + dheads_.size() +
          dqkv_.size() + rounded_.size()) *
             sizeof(T) +
         dnormed_.size() * sizeof(S) + attention_.scratch_bytes();
}

template <typename T>
void LayerMath<T>::keep(const LayerParts<const T>& weights, const T* x, LayerSaved<T>& saved) {
  kernels_.norm(x, weights.input_norm, normed_.data(), saved.input_inverse.data(), tokens_, hidden_,
                epsilon_);
  products_.run({Form::nt, tokens_, row_, hidden_, hidden_, hidden_, row_, false}, normed_.data(),
                weights.qkv, saved.qkv.data());
  attention_.forward(saved.qkv.data(), weights.q_norm, weights.k_norm, saved.heads.data(),
                     saved.log_sums.data());
  std::copy_n(x, tokens_ * hidden_, saved.middle.data());
  products_.run({Form::nt, tokens_, hidden_, queries_, queries_, queries_, hidden_, true},
                saved.heads.data(), weights.out, saved.middle.data());
  kernels_.norm(saved.middle.data(), weights.post_norm, normed_.data(), saved.post_inverse.data(),
                tokens_, hidden_, epsilon_);
  products_.run({Form::nt, tokens_, 2 * inner_, hidden_, hidden_, hidden_, 2 * inner_, false},
                normed_.data(), weights.gate_up, saved.gate_up.data());
}

template <typename T>
void LayerMath<T>::finish(const LayerParts<const T>& weights, const LayerSaved<T>& saved, T* y) {
  kernels_.swiglu(saved.gate_up.data(), gated_.data(), tokens_, inner_);
  std::copy_n(saved.middle.data(), tokens_ * hidden_, y);
  products_.run({Form::nt, tokens_, hidden_, inner_, inner_, inner_, hidden_, true}, gated_.data(),
                weights.down, y);
}

// `d` as a factor of products.
template <typename T>
const T* LayerMath<T>::rounded(const S* d) {
  if constexpr (std::is_same_v<T, S>) {
    return d;
  } else {
    kernels_.round(d, rounded_.data(), tokens_ * hidden_);
    return rounded_.data();
  }
}

template <typename T>
void LayerMath<T>::feed_back(const LayerParts<const T>& weights, const LayerSaved<T>& saved,
                             const LayerParts<S>& gradients, S* d) {
  const T* dy = rounded(d);
  products_.run({Form::nn, tokens_, inner_, hidden_, hidden_, inner_, inner_, false}, dy,
                weights.down, dgated_.data());
  kernels_.swiglu_backward(saved.gate_up.data(), dgated_.data(), dgate_up_.data(), gated_.data(),
                           tokens_, inner_);
  products_.run({Form::tn, hidden_, inner_, tokens_, hidden_, inner_, inner_, true}, dy,
                gated_.data(), gradients.down);
  kernels_.norm_again(saved.middle.data(), weights.post_norm, saved.post_inverse.data(),
                      normed_.data(), tokens_, hidden_);
  products_.run({Form::tn, 2 * inner_, hidden_, tokens_, 2 * inner_, hidden_, hidden_, true},
                dgate_up_.data(), normed_.data(), gradients.gate_up);
  products_.run({Form::nn, tokens_, hidden_, 2 * inner_, 2 * inner_, hidden_, hidden_, false},
                dgate_up_.data(), weights.gate_up, dnormed_.data());
  kernels_.norm_backward(saved.middle.data(), weights.post_norm, saved.post_inverse.data(),
                         dnormed_.data(), d, gradients.post_norm, tokens_, hidden_);
}

template <typename T>
void LayerMath<T>::attend_back(const LayerParts<const T>& weights, const T* x,
                               const LayerSaved<T>& saved, const LayerParts<S>& gradients, S* d) {
  const T* dmiddle = rounded(d);
  products_.run({Form::nn, tokens_, queries_, hidden_, hidden_, queries_, queries_, false}, dmiddle,
                weights.out, dheads_.data());
  products_.run({Form::tn, hidden_, queries_, tokens_, hidden_, queries_, queries_, true}, dmiddle,
                saved.heads.data(), gradients.out);
  attention_.backward(saved.qkv.data(), weights.q_norm, weights.k_norm, saved.heads.data(),
                      saved.log_sums.data(), dheads_.data(), dqkv_.data(), gradients.q_norm,
                      gradients.k_norm);
  kernels_.norm_again(x, weights.input_norm, saved.input_inverse.data(), normed_.data(), tokens_,
                      hidden_);
  products_.run({Form::tn, row_, hidden_, tokens_, row_, hidden_, hidden_, true}, dqkv_.data(),
                normed_.data(), gradients.qkv);
  products_.run({Form::nn, tokens_, hidden_, row_, row_, hidden_, hidden_, false}, dqkv_.data(),
                weights.qkv, dnormed_.data());
  kernels_.norm_backward(x, weights.input_norm, saved.input_inverse.data(), dnormed_.data(), d,
                         gradients.input_norm, tokens_, hidden_);
}

template <typename T>
void LayerMath<T>::backward(const LayerParts<const T>& weights, const T* x,
                            const LayerSaved<T>& saved, const LayerParts<S>& gradients, S* d) {
  feed_back(weights, saved, gradients, d);
  attend_back(weights, x, saved, gradients, d);
}

template class LayerMath<double>;
template class LayerMath<float>;
template class LayerMath<Bf16>;
template struct LayerSaved<double>;
template struct LayerSaved<float>;
template struct LayerSaved<Bf16>;

}  // namespace muster::train
