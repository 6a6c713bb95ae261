#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "train/model/qwen3_config.h"

namespace muster::train {

// A parameter by its Hugging Face name.
struct TensorSpec {
  std::string name;                  // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::uint64_t> shape;  // rows, columns; one number for the weight of a norm
  std::uint64_t offset = 0;          // in elements, from the start of its unit
  bool decays = true;                // weight decay applies; not to norms

  std::uint64_t elements() const;
  bool operator==(const TensorSpec&) const = default;
};

// What is gathered, computed and reduced as one: a flat run of elements. In a layer q, k, v are
// neighbours, and so are gate and up, so that each is one matrix product.
struct Unit {
  std::string name;  // "embed", "layer.0", "head"
  std::vector<TensorSpec> tensors;
  std::uint64_t elements = 0;  // of all tensors, without padding
};

enum class StageKind : std::uint8_t { embed, layer, head };

// A step of the computation. Tied models use the unit of embed in the head too.
struct Stage {
  StageKind kind = StageKind::layer;
  std::size_t layer = 0;  // of a layer
  std::size_t unit = 0;
};

// The order of units and stages is the order of all collectives: one function of the configuration.
//   untied: units embed {embed_tokens} | layer.0 .. | head {norm, lm_head}
//   tied:   units embed {embed_tokens, norm} | layer.0 ..
class UnitPlan {
 public:
  explicit UnitPlan(const Qwen3Config& config);

  const std::vector<Unit>& units() const { return units_; }
  const std::vector<Stage>& stages() const { return stages_; }
  std::uint64_t parameters() const;  // each once

  // Elements of one rank's slice of a unit: equal for all ranks, a multiple of 128. Rank r holds
  // [r * slice, (r + 1) * slice) of the unit; what lies beyond its end is padding, zero for ever.
  std::uint64_t slice(std::size_t unit, std::uint64_t shards) const;
  std::uint64_t largest_unit(std::uint64_t shards) const;  // padded elements

  // XXH3 of names, shapes and order, and of the numbers of the configuration that shapes do not
  // show (heads, rope_theta, rms_norm_eps): equal ones compute the same function of their weights.
  std::uint64_t digest() const;

 private:
  std::vector<Unit> units_;
  std::vector<Stage> stages_;
  std::string unseen_;  // what digest() adds to the shapes
};

}  // namespace muster::train
