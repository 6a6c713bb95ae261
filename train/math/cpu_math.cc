#include "train/math/cpu_math.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "train/math/head_math.h"
#include "train/math/layer_math.h"

namespace muster::train {
namespace {

template <typename T>
class CpuMath final : public ModelMath {
 public:
  using S = Sum<T>;

  CpuMath(const Qwen3Config& config, Dtype compute, Keep keep)
      : config_(config),
        plan_(config),
        compute_(compute),
        keep_(keep),
        layer_(config, products_),
        head_(config, products_) {}

  const UnitPlan& plan() const override { return plan_; }
  Dtype compute() const override { return compute_; }

  Status begin(const MicroBatch& batch, double scale) override;
  void forward(std::size_t stage, const std::byte* weights) override;
  double loss_sum() const override { return loss_; }
  void backward(std::size_t stage, const std::byte* weights, std::byte* gradients) override;
  void logits(std::uint64_t position, const std::byte* weights, std::span<double> out) override;
  std::uint64_t activation_bytes() const override;
  std::uint64_t executed_flops() const override { return products_.flops(); }

 private:
  void prepare(const MicroBatch& batch);
  LayerSaved<T>& saved(std::size_t layer) { return saved_[keep_ == Keep::everything ? layer : 0]; }
  // Of the head: its norm, its matrix.
  template <typename P>
  std::pair<P*, P*> head_parts(P* memory) const;

  Qwen3Config config_;
  UnitPlan plan_;
  Dtype compute_;
  Keep keep_;
  Products products_;
  LayerMath<T> layer_;
  HeadMath<T> head_;

  std::size_t sequences_ = 0, length_ = 0, next_ = 0;
  std::size_t held_ = 0;  // the layer that saved_ is of, with Keep::inputs
  std::vector<std::int32_t> ids_, labels_;
  std::vector<Buffer<T>> inputs_;  // of each layer, then of the head
  std::vector<LayerSaved<T>> saved_;
  Buffer<S> d_;
  S scale_ = 0;
  double loss_ = 0;
};

template <typename T>
void CpuMath<T>::prepare(const MicroBatch& batch) {
  if (batch.sequences == sequences_ && batch.length == length_) return;
  sequences_ = batch.sequences;
  length_ = batch.length;
  const std::size_t tokens = sequences_ * length_;
  layer_.prepare(sequences_, length_);
  head_.prepare(tokens);
  inputs_.resize(config_.layers + 1);
  for (Buffer<T>& input : inputs_) input.resize(tokens * config_.hidden);
  saved_.resize(keep_ == Keep::everything ? config_.layers : 1);
  for (LayerSaved<T>& saved : saved_) saved.resize(config_, tokens);
  d_.resize(tokens * config_.hidden);
}

template <typename T>
Status CpuMath<T>::begin(const MicroBatch& batch, double scale) {
  const std::size_t tokens = batch.sequences * batch.length;
  MUSTER_CHECK(tokens > 0 && batch.ids.size() == tokens && batch.counted.size() == tokens,
               "a micro batch of the size that it says");
  for (std::size_t i = 0; i < tokens; ++i) {
    const std::int32_t id = batch.ids[i];
    if (id >= 0 && static_cast<std::uint64_t>(id) < config_.vocabulary) continue;
    return make_error(Errc::invalid_input,
                      fmt::format("sequence {}, token {}: id {}, and the model has {}",
                                  i / batch.length, i % batch.length, id, config_.vocabulary));
  }
  prepare(batch);
  ids_.assign(batch.ids.begin(), batch.ids.end());
  labels_.assign(tokens, -1);
  for (std::size_t i = 0; i + 1 < tokens; ++i) {
    const bool last = (i + 1) % length_ == 0;
    if (!last && batch.counted[i + 1] != 0) labels_[i] = ids_[i + 1];
  }
  scale_ = static_cast<S>(scale);
  loss_ = 0;
  next_ = 0;
  return {};
}

template <typename T>
template <typename P>
std::pair<P*, P*> CpuMath<T>::head_parts(P* memory) const {
  const Unit& unit = plan_.units()[plan_.stages().back().unit];
  const std::size_t norm = config_.tied ? 1 : 0;
  return {memory + unit.tensors[norm].offset, memory + unit.tensors[1 - norm].offset};
}

template <typename T>
void CpuMath<T>::forward(std::size_t stage, const std::byte* weights) {
  MUSTER_CHECK(stage == next_ && stage < plan_.stages().size(), "stages come in order");
  const auto* w = reinterpret_cast<const T*>(weights);
  const Stage& what = plan_.stages()[stage];
  if (what.kind == StageKind::embed) {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      std::copy_n(w + static_cast<std::size_t>(ids_[i]) * config_.hidden, config_.hidden,
                  inputs_[0].data() + i * config_.hidden);
    }
  } else if (what.kind == StageKind::layer) {
    const auto parts = LayerParts<const T>::of(plan_.units()[what.unit], w);
    layer_.keep(parts, inputs_[what.layer].data(), saved(what.layer));
    layer_.finish(parts, saved(what.layer), inputs_[what.layer + 1].data());
    held_ = what.layer;
  } else {
    const auto [norm, matrix] = head_parts(w);
    loss_ = head_.forward(inputs_.back().data(), norm, matrix, labels_, scale_);
  }
  ++next_;
}

template <typename T>
void CpuMath<T>::backward(std::size_t stage, const std::byte* weights, std::byte* gradients) {
  MUSTER_CHECK(next_ > 0 && stage == next_ - 1, "backward comes in order, from the last stage");
  const auto* w = reinterpret_cast<const T*>(weights);
  auto* g = reinterpret_cast<S*>(gradients);
  const Stage& what = plan_.stages()[stage];
  if (what.kind == StageKind::head) {
    const auto [norm, matrix] = head_parts(w);
    const auto [dnorm, dmatrix] = head_parts(g);
    head_.backward(inputs_.back().data(), norm, matrix, dnorm, dmatrix, d_.data());
  } else if (what.kind == StageKind::layer) {
    const Unit& unit = plan_.units()[what.unit];
    const auto parts = LayerParts<const T>::of(unit, w);
    const T* x = inputs_[what.layer].data();
    if (keep_ == Keep::inputs && held_ != what.layer) layer_.keep(parts, x, saved(what.layer));
    held_ = what.layer;
    layer_.backward(parts, x, saved(what.layer), LayerParts<S>::of(unit, g), d_.data());
  } else {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      row_kernels<T>().add(d_.data() + i * config_.hidden,
                           g + static_cast<std::size_t>(ids_[i]) * config_.hidden, config_.hidden);
    }
  }
  --next_;
}

template <typename T>
void CpuMath<T>::logits(std::uint64_t position, const std::byte* weights, std::span<double> out) {
  MUSTER_CHECK(next_ + 1 == plan_.stages().size() && position < ids_.size() &&
                   out.size() == config_.vocabulary,
               "behind the last layer, of a token that is there");
  const auto [norm, matrix] = head_parts(reinterpret_cast<const T*>(weights));
  head_.logits(inputs_.back().data() + position * config_.hidden, norm, matrix, out);
}

template <typename T>
std::uint64_t CpuMath<T>::activation_bytes() const {
  std::uint64_t bytes = layer_.scratch_bytes() + head_.scratch_bytes() + d_.size() * sizeof(S);
  for (const Buffer<T>& input : inputs_) bytes += input.size() * sizeof(T);
  for (const LayerSaved<T>& saved : saved_) bytes += saved.bytes();
  return bytes;
}

}  // namespace

std::unique_ptr<ModelMath> make_cpu_math(const Qwen3Config& config, Dtype compute, Keep keep) {
  if (compute == Dtype::f64) return std::make_unique<CpuMath<double>>(config, compute, keep);
  if (compute == Dtype::f32) return std::make_unique<CpuMath<float>>(config, compute, keep);
  return std::make_unique<CpuMath<Bf16>>(config, compute, keep);
}

}  // namespace muster::train
