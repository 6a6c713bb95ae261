#include "train/math/head_math.h"

#include <algorithm>
#include <type_traits>

namespace muster::train {
namespace {

// Of logits in f32 on their way to bf16: few enough to matter little beside the gradients, enough
// rows for the product to run at full speed.
constexpr std::size_t kWideLogits = 1u << 25;
constexpr std::size_t kLeastRows = 64;

}  // namespace

template <typename T>
HeadMath<T>::HeadMath(const Qwen3Config& config, Products& products)
    : hidden_(config.hidden),
      vocabulary_(config.vocabulary),
      epsilon_(static_cast<S>(config.norm_epsilon)),
      products_(products),
      kernels_(row_kernels<T>()) {}

template <typename T>
void HeadMath<T>::prepare(std::size_t tokens) {
  tokens_ = tokens;
  normed_.resize(tokens * hidden_);
  dnormed_.resize(tokens * hidden_);
  inverse_.resize(tokens);
  rows_at_once_ = tokens;
  if constexpr (!std::is_same_v<T, S>) {
    rows_at_once_ = std::min(tokens, std::max(kLeastRows, kWideLogits / vocabulary_));
    wide_logits_.resize(rows_at_once_ * vocabulary_);
  }
}

template <typename T>
std::size_t HeadMath<T>::scratch_bytes() const {
  return (normed_.size() + dlogits_.size()) * sizeof(T) +
         (inverse_.size() + wide_logits_.size() + dnormed_.size()) * sizeof(S);
}

template <typename T>
double HeadMath<T>::forward(const T* x, const T* norm, const T* matrix,
                            std::span<const std::int32_t> labels, S scale) {
  dlogits_.resize(tokens_ * vocabulary_);
  kernels_.norm(x, norm, normed_.data(), inverse_.data(), tokens_, hidden_, epsilon_);
  double loss = 0;
  for (std::size_t first = 0; first < tokens_; first += rows_at_once_) {
    const std::size_t rows = std::min(rows_at_once_, tokens_ - first);
    T* dlogits = dlogits_.data() + first * vocabulary_;
    S* logits = nullptr;
    if constexpr (std::is_same_v<T, S>) {
      logits = dlogits;
    } else {
      logits = wide_logits_.data();
    }
    products_.run({Form::nt, rows, vocabulary_, hidden_, hidden_, hidden_, vocabulary_, false},
                  normed_.data() + first * hidden_, matrix, logits);
    loss += kernels_.classify(logits, labels.data() + first, dlogits, rows, vocabulary_, scale);
  }
  return loss;
}

template <typename T>
void HeadMath<T>::backward(const T* x, const T* norm, const T* matrix, S* dnorm, S* dmatrix, S* d) {
  products_.run({Form::tn, vocabulary_, hidden_, tokens_, vocabulary_, hidden_, hidden_, true},
                dlogits_.data(), normed_.data(), dmatrix);
  products_.run({Form::nn, tokens_, hidden_, vocabulary_, vocabulary_, hidden_, hidden_, false},
                dlogits_.data(), matrix, dnormed_.data());
  std::fill_n(d, tokens_ * hidden_, S{0});
  kernels_.norm_backward(x, norm, inverse_.data(), dnormed_.data(), d, dnorm, tokens_, hidden_);
}

template <typename T>
void HeadMath<T>::logits(const T* x, const T* norm, const T* matrix, std::span<double> out) {
  Buffer<S> row(vocabulary_);
  kernels_.norm(x, norm, normed_.data(), inverse_.data(), 1, hidden_, epsilon_);
  products_.run({Form::nt, 1, vocabulary_, hidden_, hidden_, hidden_, vocabulary_, false},
                normed_.data(), matrix, row.data());
  std::copy(row.begin(), row.end(), out.begin());
}

template class HeadMath<double>;
template class HeadMath<float>;
template class HeadMath<Bf16>;

}  // namespace muster::train
