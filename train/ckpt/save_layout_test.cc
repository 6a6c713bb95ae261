#include "train/ckpt/save_layout.h"

#include <gtest/gtest.h>

#include "train/ckpt/ckpt_test_kit.h"

namespace muster::train {
namespace {

// The published sizes; the parameters and tensors of their files are known (Qwen3 0.6B to 32B).
TEST(SaveLayout, PublishedSizes) {
  struct Row {
    const char* name;
    std::uint64_t hidden, inter, layers, heads;
    bool tied;
    std::uint64_t parameters, tensors;
  };
  const Row rows[] = {{"0.6B", 1024, 3072, 28, 16, true, 596'049'920, 310},
                      {"1.7B", 2048, 6144, 28, 16, true, 1'720'574'976, 310},
                      {"4B", 2560, 9728, 36, 32, true, 4'022'468'096, 398},
                      {"8B", 4096, 12288, 36, 32, false, 8'190'735'360, 399},
                      {"14B", 5120, 17408, 40, 40, false, 14'768'307'200, 443},
                      {"32B", 5120, 25600, 64, 64, false, 32'762'123'264, 707}};
  for (const Row& row : rows) {
    Qwen3Config config;
    config.vocabulary = 151'936;
    config.hidden = row.hidden;
    config.intermediate = row.inter;
    config.layers = row.layers;
    config.heads = row.heads;
    config.kv_heads = 8;
    config.head_dim = 128;
    config.max_positions = 40'960;
    config.tied = row.tied;
    const UnitPlan plan(config);
    std::uint64_t data = 0, tensors = 0;
    std::size_t unit = 0;
    for (const WeightsFile& file : weights_files(plan, 5'000'000'000)) {
      EXPECT_EQ(file.first_unit, unit);
      unit += file.units;
      const auto header = checkpoint::parse_safetensors(file.head);
      ASSERT_TRUE(header);
      EXPECT_EQ(header->file_bytes(), file.bytes);
      data += header->data_bytes();
      tensors += header->tensors.size();
      EXPECT_LE(file.bytes, 5'100'000'000u) << row.name;
    }
    EXPECT_EQ(unit, plan.units().size());
    EXPECT_EQ(data, row.parameters * 2) << row.name;
    EXPECT_EQ(tensors, row.tensors) << row.name;
  }
}

TEST(SaveLayout, OneFileHasNoIndex) {
  const UnitPlan plan(small_config());
  const auto files = weights_files(plan, 1'000'000'000);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "model.safetensors");
  EXPECT_EQ(weights_index(plan, files), "");
  EXPECT_EQ(weights_files(plan, 1).size(), plan.units().size());
}

// In memory a unit is one run of elements, and so it is in the file.
TEST(SaveLayout, TensorsOfAUnitLieAsInMemory) {
  const UnitPlan plan(small_config());
  const auto file = weights_files(plan, 1'000'000'000).front();
  const auto header = checkpoint::parse_safetensors(file.head);
  std::uint64_t at = 0;
  for (const Unit& unit : plan.units()) {
    for (const TensorSpec& tensor : unit.tensors) {
      const auto* saved = header->find(tensor.name);
      ASSERT_NE(saved, nullptr);
      EXPECT_EQ(saved->begin, at + tensor.offset * 2);
      EXPECT_EQ(saved->shape, tensor.shape);
    }
    at += unit.elements * 2;
  }
}

TEST(SaveLayout, StateOfEachRank) {
  const UnitPlan plan(small_config());
  const StateFile file = state_file(plan, Dtype::f32, 2, 3);
  EXPECT_EQ(file.name, "state/rank-00002-of-00003.safetensors");
  const auto header = checkpoint::parse_safetensors(file.head);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->tensors.size(), plan.units().size() * 3);
  EXPECT_EQ(header->file_bytes(), file.bytes);
  const auto* moment = header->find("layer.1.second_moment");
  ASSERT_NE(moment, nullptr);
  EXPECT_EQ(moment->dtype, "F32");
  EXPECT_EQ(moment->shape, std::vector<std::uint64_t>{plan.slice(2, 3)});
}

}  // namespace
}  // namespace muster::train
