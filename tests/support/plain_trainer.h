#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/math/model_math.h"

namespace muster::train {

// A model trained whole on one rank by the book: every unit's memory at full length, no slices, no
// staging, the textbook's AdamW over each tensor. What the sharded engine is held against.
class PlainTrainer {
 public:
  struct Rates {
    double learning = 1e-3, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, decay = 0.1;
    double clip = 0;  // greatest norm; 0: none
  };

  // Random weights of `seed`. `math` must outlive this.
  PlainTrainer(ModelMath& math, std::uint64_t seed);

  // One micro batch: adds its gradients up. The sum of its losses, not scaled.
  double add(const MicroBatch& batch, double scale);
  // The step over what was added up. The norm of all gradients before clipping.
  double step(const Rates& rates);
  void clear_gradients();

  // In the type of the mathematics, of a unit.
  const std::byte* weights(std::size_t unit) const { return compute_[unit].data(); }
  std::vector<double>& master(std::size_t unit) { return master_[unit]; }
  // After a change of master().
  void round_weights();
  double gradient(std::size_t unit, std::size_t element) const;

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Memory {
    std::vector<Line> lines;
    std::byte* data() { return reinterpret_cast<std::byte*>(lines.data()); }
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(lines.data()); }
    void resize(std::size_t bytes) { lines.assign((bytes + 63) / 64, Line{}); }
  };
  void store(std::size_t unit, std::size_t element, double value);

  ModelMath& math_;
  std::uint64_t steps_ = 0;
  std::vector<Memory> compute_, gradients_;
  std::vector<std::vector<double>> master_, first_, second_;
};

}  // namespace muster::train
