#include "tests/support/plain_trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "train/model/bf16.h"
#include "train/model/weight_init.h"

namespace muster::train {

PlainTrainer::PlainTrainer(ModelMath& math, std::uint64_t seed) : math_(math) {
  const std::size_t units = math.plan().units().size();
  compute_.resize(units);
  gradients_.resize(units);
  master_.resize(units);
  first_.resize(units);
  second_.resize(units);
  for (std::size_t unit = 0; unit < units; ++unit) {
    const Unit& what = math.plan().units()[unit];
    master_[unit].resize(what.elements);
    if (math.compute() == Dtype::f64) {
      init_weights(what, seed, 0, std::span<double>(master_[unit]));
    } else {
      std::vector<float> single(what.elements);
      init_weights(what, seed, 0, std::span<float>(single));
      master_[unit].assign(single.begin(), single.end());
    }
    first_[unit].resize(what.elements);
    second_[unit].resize(what.elements);
    compute_[unit].resize(what.elements * dtype_bytes(math.compute()));
    gradients_[unit].resize(what.elements * dtype_bytes(sum_dtype(math.compute())));
  }
  round_weights();
}

void PlainTrainer::store(std::size_t unit, std::size_t element, double value) {
  std::byte* to = compute_[unit].data() + element * dtype_bytes(math_.compute());
  const auto single = static_cast<float>(value);
  const std::uint16_t half = to_bf16(single);
  if (math_.compute() == Dtype::f64) std::memcpy(to, &value, sizeof value);
  if (math_.compute() == Dtype::f32) std::memcpy(to, &single, sizeof single);
  if (math_.compute() == Dtype::bf16) std::memcpy(to, &half, sizeof half);
}

void PlainTrainer::round_weights() {
  for (std::size_t unit = 0; unit < master_.size(); ++unit) {
    for (std::size_t i = 0; i < master_[unit].size(); ++i) store(unit, i, master_[unit][i]);
  }
}

double PlainTrainer::gradient(std::size_t unit, std::size_t element) const {
  const std::byte* memory = gradients_[unit].data();
  if (math_.compute() == Dtype::f64) {
    return reinterpret_cast<const double*>(memory)[element];
  }
  return static_cast<double>(reinterpret_cast<const float*>(memory)[element]);
}

void PlainTrainer::clear_gradients() {
  for (Memory& memory : gradients_) memory.lines.assign(memory.lines.size(), Line{});
}

double PlainTrainer::add(const MicroBatch& batch, double scale) {
  const Status begun = math_.begin(batch, scale);
  if (!begun) return std::nan("");
  const std::vector<Stage>& stages = math_.plan().stages();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    math_.forward(stage, weights(stages[stage].unit));
  }
  const double loss = math_.loss_sum();
  for (std::size_t stage = stages.size(); stage-- > 0;) {
    const std::size_t unit = stages[stage].unit;
    math_.backward(stage, weights(unit), gradients_[unit].data());
  }
  return loss;
}

double PlainTrainer::step(const Rates& rates) {
  double squares = 0;
  for (std::size_t unit = 0; unit < master_.size(); ++unit) {
    for (std::size_t i = 0; i < master_[unit].size(); ++i)
      squares += std::pow(gradient(unit, i), 2);
  }
  const double norm = std::sqrt(squares);
  // As torch.nn.utils.clip_grad_norm_.
  const double factor = rates.clip > 0 ? std::min(1.0, rates.clip / (norm + 1e-6)) : 1;
  ++steps_;
  const double n = static_cast<double>(steps_);
  const double first_scale = 1 - std::pow(rates.beta1, n);
  const double second_scale = 1 - std::pow(rates.beta2, n);
  for (std::size_t unit = 0; unit < master_.size(); ++unit) {
    for (const TensorSpec& tensor : math_.plan().units()[unit].tensors) {
      const double decay = tensor.decays ? rates.decay : 0;
      for (std::size_t i = tensor.offset; i < tensor.offset + tensor.elements(); ++i) {
        const double g = gradient(unit, i) * factor;
        double& m = first_[unit][i];
        double& v = second_[unit][i];
        double& w = master_[unit][i];
        m = rates.beta1 * m + (1 - rates.beta1) * g;
        v = rates.beta2 * v + (1 - rates.beta2) * g * g;
        w -= rates.learning * decay * w;
        w -= rates.learning * (m / first_scale) / (std::sqrt(v / second_scale) + rates.epsilon);
      }
    }
  }
  round_weights();
  clear_gradients();
  return norm;
}

}  // namespace muster::train
