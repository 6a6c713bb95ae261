#include "train/model/unit_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace muster::train {
namespace {

// The published family: totals are those that their model cards and files give.
struct Size {
  const char* name;
  std::uint64_t hidden, intermediate, layers, heads, kv_heads;
  bool tied;
  std::uint64_t parameters, tensors;
};

constexpr Size kSizes[] = {
    {"0.6B", 1024, 3072, 28, 16, 8, true, 596'049'920, 310},
    {"1.7B", 2048, 6144, 28, 16, 8, true, 1'720'574'976, 310},
    {"4B", 2560, 9728, 36, 32, 8, true, 4'022'468'096, 398},
    {"8B", 4096, 12288, 36, 32, 8, false, 8'190'735'360, 399},
    {"14B", 5120, 17408, 40, 40, 8, false, 14'768'307'200, 443},
    {"32B", 5120, 25600, 64, 64, 8, false, 32'762'123'264, 707},
};

Qwen3Config config_of(const Size& size) {
  Qwen3Config c;
  c.vocabulary = 151936, c.hidden = size.hidden, c.intermediate = size.intermediate;
  c.layers = size.layers, c.heads = size.heads, c.kv_heads = size.kv_heads, c.head_dim = 128;
  c.max_positions = 40960, c.tied = size.tied;
  return c;
}

using Shape = std::vector<std::uint64_t>;

const TensorSpec* find(const UnitPlan& plan, const std::string& name) {
  for (const Unit& unit : plan.units()) {
    for (const TensorSpec& tensor : unit.tensors) {
      if (tensor.name == name) return &tensor;
    }
  }
  return nullptr;
}

TEST(UnitPlan, HasTheTotalsOfAllSixSizes) {
  for (const Size& size : kSizes) {
    SCOPED_TRACE(size.name);
    const UnitPlan plan(config_of(size));
    EXPECT_EQ(plan.parameters(), size.parameters);
    std::set<std::string> names;
    for (const Unit& unit : plan.units()) {
      std::uint64_t offset = 0;
      for (const TensorSpec& tensor : unit.tensors) {
        EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
        EXPECT_EQ(tensor.offset, offset) << tensor.name;
        EXPECT_EQ(tensor.decays, tensor.shape.size() == 2) << tensor.name;
        offset += tensor.elements();
      }
      EXPECT_EQ(unit.elements, offset);
    }
    EXPECT_EQ(names.size(), size.tensors);
    EXPECT_EQ(plan.units().size(), size.layers + (size.tied ? 1 : 2));
    EXPECT_EQ(plan.stages().size(), size.layers + 2);
  }
}

TEST(UnitPlan, NamesAndShapesOfALayer) {
  for (const Size& size : kSizes) {
    const UnitPlan plan(config_of(size));
    const std::uint64_t h = size.hidden, q = size.heads * 128, kv = size.kv_heads * 128;
    const std::pair<const char*, Shape> rows[] = {
        {"self_attn.q_proj", {q, h}},
        {"self_attn.k_proj", {kv, h}},
        {"self_attn.v_proj", {kv, h}},
        {"self_attn.o_proj", {h, q}},
        {"self_attn.q_norm", {128}},
        {"self_attn.k_norm", {128}},
        {"mlp.gate_proj", {size.intermediate, h}},
        {"mlp.up_proj", {size.intermediate, h}},
        {"mlp.down_proj", {h, size.intermediate}},
        {"input_layernorm", {h}},
        {"post_attention_layernorm", {h}},
    };
    const Unit& unit = plan.units()[size.layers];  // of the last layer
    ASSERT_EQ(unit.tensors.size(), std::size(rows));
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      EXPECT_EQ(unit.tensors[i].name, "model.layers." + std::to_string(size.layers - 1) + "." +
                                          rows[i].first + ".weight");
      EXPECT_EQ(unit.tensors[i].shape, rows[i].second) << size.name << ' ' << rows[i].first;
    }
  }
}

TEST(UnitPlan, ATiedHeadUsesTheUnitOfTheEmbedding) {
  const UnitPlan tied(config_of(kSizes[0])), untied(config_of(kSizes[5]));
  EXPECT_EQ(find(tied, "lm_head.weight"), nullptr);
  EXPECT_EQ(tied.stages().back().unit, 0u);
  EXPECT_EQ(tied.units()[0].tensors[1].name, "model.norm.weight");
  ASSERT_NE(find(untied, "lm_head.weight"), nullptr);
  EXPECT_EQ(find(untied, "lm_head.weight")->shape, (Shape{151936, 5120}));
  EXPECT_EQ(untied.stages().back().unit, 65u);
  EXPECT_EQ(untied.stages()[0].kind, StageKind::embed);
  EXPECT_EQ(untied.stages()[64].kind, StageKind::layer);
  EXPECT_EQ(untied.stages()[64].layer, 63u);
  EXPECT_EQ(untied.stages()[65].kind, StageKind::head);
}

TEST(UnitPlan, SlicesAreEqualWholeAndNeverLargerThanNeeded) {
  const UnitPlan plan(config_of(kSizes[5]));
  for (const std::uint64_t shards : {1u, 2u, 3u, 16u, 1000u}) {
    for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
      const std::uint64_t slice = plan.slice(unit, shards), all = plan.units()[unit].elements;
      EXPECT_EQ(slice % 128, 0u);
      EXPECT_GE(slice * shards, all);
      EXPECT_LT((slice - 128) * shards, all);
    }
    EXPECT_EQ(plan.largest_unit(shards), plan.slice(65, shards) * shards);
  }
}

TEST(UnitPlan, TheDigestTellsApartWhatShapesDoNotShow) {
  const Qwen3Config config = config_of(kSizes[0]);
  const struct {
    std::string_view name;
    std::function<void(Qwen3Config&)> change;
  } rows[] = {
      {"rope_theta", [](Qwen3Config& c) { c.rope_theta = 1e4; }},
      {"rms_norm_eps", [](Qwen3Config& c) { c.norm_epsilon = 1e-5; }},
      {"rope_theta, the last bit",
       [](Qwen3Config& c) { c.rope_theta = std::nextafter(c.rope_theta, 2e6); }},
  };
  for (const auto& row : rows) {
    Qwen3Config other = config;
    row.change(other);
    EXPECT_NE(UnitPlan(other).digest(), UnitPlan(config).digest()) << row.name;
  }
  // How long its blocks may be is no part of what it computes.
  Qwen3Config longer = config;
  longer.max_positions *= 2;
  EXPECT_EQ(UnitPlan(longer).digest(), UnitPlan(config).digest());
}

TEST(UnitPlan, TheDigestTellsModelsApart) {
  std::set<std::uint64_t> digests;
  for (const Size& size : kSizes) {
    EXPECT_EQ(UnitPlan(config_of(size)).digest(), UnitPlan(config_of(size)).digest());
    digests.insert(UnitPlan(config_of(size)).digest());
    Qwen3Config other = config_of(size);
    other.tied = !other.tied;
    digests.insert(UnitPlan(other).digest());
  }
  EXPECT_EQ(digests.size(), 2 * std::size(kSizes));
}

}  // namespace
}  // namespace muster::train
