#include "train/model/unit_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/blocks/block_hash.h"

namespace muster::train {
namespace {

constexpr std::uint64_t kSliceElements = 128;

void add(Unit& unit, std::string name, std::vector<std::uint64_t> shape) {
  TensorSpec tensor{std::move(name), std::move(shape), unit.elements, true};
  tensor.decays = tensor.shape.size() > 1;
  unit.elements += tensor.elements();
  unit.tensors.push_back(std::move(tensor));
}

Unit layer_unit(const Qwen3Config& c, std::uint64_t layer) {
  Unit unit;
  unit.name = fmt::format("layer.{}", layer);
  const auto name = [layer](std::string_view part) {
    return fmt::format("model.layers.{}.{}.weight", layer, part);
  };
  const std::uint64_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  add(unit, name("self_attn.q_proj"), {q, c.hidden});
  add(unit, name("self_attn.k_proj"), {kv, c.hidden});
  add(unit, name("self_attn.v_proj"), {kv, c.hidden});
  add(unit, name("self_attn.o_proj"), {c.hidden, q});
  add(unit, name("self_attn.q_norm"), {c.head_dim});
  add(unit, name("self_attn.k_norm"), {c.head_dim});
  add(unit, name("mlp.gate_proj"), {c.intermediate, c.hidden});
  add(unit, name("mlp.up_proj"), {c.intermediate, c.hidden});
  add(unit, name("mlp.down_proj"), {c.hidden, c.intermediate});
  add(unit, name("input_layernorm"), {c.hidden});
  add(unit, name("post_attention_layernorm"), {c.hidden});
  return unit;
}

}  // namespace

std::uint64_t TensorSpec::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t side : shape) count *= side;
  return count;
}

UnitPlan::UnitPlan(const Qwen3Config& config)
    : unseen_(fmt::format("{} {} {:a} {:a}", config.heads, config.kv_heads, config.rope_theta,
                          config.norm_epsilon)) {
  Unit embed;
  embed.name = "embed";
  add(embed, "model.embed_tokens.weight", {config.vocabulary, config.hidden});
  if (config.tied) add(embed, "model.norm.weight", {config.hidden});
  units_.push_back(std::move(embed));
  stages_.push_back({StageKind::embed, 0, 0});
  for (std::uint64_t i = 0; i < config.layers; ++i) {
    stages_.push_back({StageKind::layer, i, units_.size()});
    units_.push_back(layer_unit(config, i));
  }
  if (!config.tied) {
    Unit head;
    head.name = "head";
    add(head, "model.norm.weight", {config.hidden});
    add(head, "lm_head.weight", {config.vocabulary, config.hidden});
    units_.push_back(std::move(head));
  }
  stages_.push_back({StageKind::head, 0, config.tied ? 0 : units_.size() - 1});
}

std::uint64_t UnitPlan::parameters() const {
  std::uint64_t count = 0;
  for (const Unit& unit : units_) count += unit.elements;
  return count;
}

std::uint64_t UnitPlan::slice(std::size_t unit, std::uint64_t shards) const {
  MUSTER_CHECK(unit < units_.size() && shards > 0, "a unit of the plan, and somebody to hold it");
  const std::uint64_t step = shards * kSliceElements;
  return (units_[unit].elements + step - 1) / step * kSliceElements;
}

std::uint64_t UnitPlan::largest_unit(std::uint64_t shards) const {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) most = std::max(most, slice(i, shards) * shards);
  return most;
}

std::uint64_t UnitPlan::digest() const {
  std::string text;
  for (const Unit& unit : units_) {
    text += unit.name + '\n';
    for (const TensorSpec& tensor : unit.tensors) {
      text += tensor.name;
      for (const std::uint64_t side : tensor.shape) text += fmt::format(" {}", side);
      text += '\n';
    }
  }
  for (const Stage& stage : stages_) text += fmt::format("{} ", stage.unit);
  text += unseen_;
  return blocks::hash_bytes(text).low;
}

}  // namespace muster::train
