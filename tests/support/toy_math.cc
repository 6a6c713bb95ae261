#include "tests/support/toy_math.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "train/model/bf16.h"

namespace muster::testing_support {
namespace {

using namespace train;

double load(double value) {
  return value;
}
float load(float value) {
  return value;
}
float load(Bf16 value) {
  return widen(value);
}

// Weights are of type W, everything else of type T.
template <typename W, typename T>
class ToyMath final : public ModelMath {
 public:
  ToyMath(const Qwen3Config& config, Dtype compute)
      : hidden_(config.hidden), vocabulary_(config.vocabulary), plan_(config), compute_(compute) {
    inputs_.resize(plan_.stages().size());
    curve_.resize(hidden_);
  }

  const UnitPlan& plan() const override { return plan_; }
  Dtype compute() const override { return compute_; }
  double loss_sum() const override { return loss_; }
  std::uint64_t activation_bytes() const override { return 0; }
  std::uint64_t executed_flops() const override { return 0; }
  void logits(std::uint64_t /*position*/, const std::byte* /*weights*/,
              std::span<double> out) override {
    std::fill(out.begin(), out.end(), 0.0);
  }

  Status begin(const MicroBatch& batch, double scale) override {
    for (const std::int32_t id : batch.ids) {
      if (id < 0 || static_cast<std::uint64_t>(id) >= vocabulary_) {
        return make_error(Errc::invalid_input, "an id that is no token");
      }
    }
    batch_ = batch;
    scale_ = scale;
    loss_ = 0;
    x_.assign(batch.ids.size() * hidden_, T(0));
    return {};
  }

  void forward(std::size_t stage, const std::byte* weights) override {
    inputs_[stage] = x_;
    switch (plan_.stages()[stage].kind) {
      case StageKind::embed:
        return embed(stage, weights);
      case StageKind::layer:
        return layer(stage, weights);
      case StageKind::head:
        return head(stage, weights);
    }
  }

  void backward(std::size_t stage, const std::byte* weights, std::byte* gradients) override {
    auto* out = reinterpret_cast<T*>(gradients);
    switch (plan_.stages()[stage].kind) {
      case StageKind::embed:
        return embed_back(stage, out);
      case StageKind::layer:
        return layer_back(stage, weights, out);
      case StageKind::head:
        return head_back(stage, weights, out);
    }
  }

 private:
  std::uint64_t offset(std::size_t stage, std::string_view part) const {
    for (const TensorSpec& tensor : plan_.units()[plan_.stages()[stage].unit].tensors) {
      if (tensor.name.find(part) != std::string::npos) return tensor.offset;
    }
    return offset(stage, "embed_tokens");  // the head of a tied model
  }
  const W* part(std::size_t stage, const std::byte* weights, std::string_view name) const {
    return reinterpret_cast<const W*>(weights) + offset(stage, name);
  }
  std::uint64_t elements(std::size_t stage) const {
    return plan_.units()[plan_.stages()[stage].unit].elements;
  }
  static T slope(std::uint64_t k) { return static_cast<T>(0.3 * std::cos(static_cast<double>(k))); }

  void embed(std::size_t stage, const std::byte* weights) {
    const W* rows = part(stage, weights, "embed_tokens");
    for (std::size_t t = 0; t < batch_.ids.size(); ++t) {
      const auto id = static_cast<std::uint64_t>(batch_.ids[t]);
      for (std::uint64_t h = 0; h < hidden_; ++h) {
        x_[t * hidden_ + h] = load(rows[id * hidden_ + h]);
      }
    }
  }
  void embed_back(std::size_t stage, T* out) {
    T* rows = out + offset(stage, "embed_tokens");
    for (std::size_t t = 0; t < batch_.ids.size(); ++t) {
      const auto id = static_cast<std::uint64_t>(batch_.ids[t]);
      for (std::uint64_t h = 0; h < hidden_; ++h) {
        rows[id * hidden_ + h] += dx_[t * hidden_ + h];
      }
    }
  }

  // x + tanh(d + x), d of a column: all weights k with k mod hidden = column, with their slopes.
  void make_curve(std::size_t stage, const std::byte* weights) {
    const auto* all = reinterpret_cast<const W*>(weights);
    std::fill(curve_.begin(), curve_.end(), T(0));
    for (std::uint64_t k = 0; k < elements(stage); ++k) {
      curve_[k % hidden_] += slope(k) * load(all[k]);
    }
  }
  void layer(std::size_t stage, const std::byte* weights) {
    make_curve(stage, weights);
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += std::tanh(curve_[i % hidden_] + x_[i]);
  }
  void layer_back(std::size_t stage, const std::byte* weights, T* out) {
    make_curve(stage, weights);
    std::vector<T> dcurve(hidden_);
    const std::vector<T>& x = inputs_[stage];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T y = std::tanh(curve_[i % hidden_] + x[i]);
      const T d = dx_[i] * (1 - y * y);
      dcurve[i % hidden_] += d;
      dx_[i] += d;
    }
    for (std::uint64_t k = 0; k < elements(stage); ++k) out[k] += slope(k) * dcurve[k % hidden_];
  }

  // softmax(rows (norm * x)) against the next token.
  void head(std::size_t stage, const std::byte* weights) {
    const W* rows = part(stage, weights, "lm_head");
    const W* norm = part(stage, weights, "norm");
    p_.assign(batch_.ids.size() * vocabulary_, T(0));
    for (std::size_t t = 0; t < batch_.ids.size(); ++t) {
      if (!is_label(t)) continue;
      T* p = p_.data() + t * vocabulary_;
      T sum = 0;
      for (std::uint64_t v = 0; v < vocabulary_; ++v) {
        T logit = 0;
        for (std::uint64_t h = 0; h < hidden_; ++h) {
          logit += load(rows[v * hidden_ + h]) * load(norm[h]) * x_[t * hidden_ + h];
        }
        p[v] = std::exp(logit);
        sum += p[v];
      }
      for (std::uint64_t v = 0; v < vocabulary_; ++v) p[v] /= sum;
      loss_ -= std::log(static_cast<double>(p[batch_.ids[t + 1]]));
    }
  }
  void head_back(std::size_t stage, const std::byte* weights, T* out) {
    const W* rows = part(stage, weights, "lm_head");
    const W* norm = part(stage, weights, "norm");
    T* drows = out + offset(stage, "lm_head");
    T* dnorm = out + offset(stage, "norm");
    const std::vector<T>& x = inputs_[stage];
    dx_.assign(x.size(), T(0));
    for (std::size_t t = 0; t < batch_.ids.size(); ++t) {
      if (!is_label(t)) continue;
      for (std::uint64_t v = 0; v < vocabulary_; ++v) {
        const T hit = v == static_cast<std::uint64_t>(batch_.ids[t + 1]) ? T(1) : T(0);
        const T d = (p_[t * vocabulary_ + v] - hit) * static_cast<T>(scale_);
        for (std::uint64_t h = 0; h < hidden_; ++h) {
          const std::uint64_t i = t * hidden_ + h;
          drows[v * hidden_ + h] += d * load(norm[h]) * x[i];
          dnorm[h] += d * load(rows[v * hidden_ + h]) * x[i];
          dx_[i] += d * load(rows[v * hidden_ + h]) * load(norm[h]);
        }
      }
    }
  }
  bool is_label(std::size_t t) const {
    return (t + 1) % batch_.length != 0 && batch_.counted[t + 1] != 0;
  }

  std::uint64_t hidden_, vocabulary_;
  UnitPlan plan_;
  Dtype compute_;
  MicroBatch batch_;
  double scale_ = 1, loss_ = 0;
  std::vector<T> x_, dx_, p_, curve_;
  std::vector<std::vector<T>> inputs_;  // of each stage
};

}  // namespace

std::unique_ptr<ModelMath> make_toy_math(const Qwen3Config& config, Dtype compute) {
  if (compute == Dtype::f64) return std::make_unique<ToyMath<double, double>>(config, compute);
  if (compute == Dtype::f32) return std::make_unique<ToyMath<float, float>>(config, compute);
  return std::make_unique<ToyMath<std::uint16_t, float>>(config, compute);
}

}  // namespace muster::testing_support
