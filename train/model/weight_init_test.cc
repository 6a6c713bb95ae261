#include "train/model/weight_init.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace muster::train {
namespace {

UnitPlan small_plan() {
  Qwen3Config config;
  config.vocabulary = 96, config.hidden = 32, config.intermediate = 48, config.layers = 2;
  config.heads = 4, config.kv_heads = 2, config.head_dim = 8, config.max_positions = 64;
  return UnitPlan(config);
}

std::vector<double> whole(const Unit& unit, std::uint64_t seed, std::size_t padding = 0) {
  std::vector<double> out(unit.elements + padding, 7);
  init_weights(unit, seed, 0, std::span<double>(out));
  return out;
}

TEST(WeightInit, ASliceIsTheSameWhoeverMakesIt) {
  const UnitPlan plan = small_plan();
  const Unit& unit = plan.units()[1];
  const std::vector<double> all = whole(unit, 3);
  for (const std::size_t ranks : {2u, 3u, 7u}) {
    const std::size_t slice = plan.slice(1, ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<double> part(slice);
      init_weights(unit, 3, rank * slice, std::span<double>(part));
      for (std::size_t i = 0; i < slice; ++i) {
        const std::size_t at = rank * slice + i;
        ASSERT_EQ(part[i], at < all.size() ? all[at] : 0) << ranks << ' ' << rank << ' ' << i;
      }
    }
  }
}

TEST(WeightInit, NormsAreOneAndPaddingIsZero) {
  const Unit unit = small_plan().units()[1];
  const std::vector<double> all = whole(unit, 3, 100);
  for (const TensorSpec& tensor : unit.tensors) {
    if (tensor.shape.size() != 1) continue;
    for (std::size_t i = 0; i < tensor.elements(); ++i) ASSERT_EQ(all[tensor.offset + i], 1);
  }
  for (std::size_t i = unit.elements; i < all.size(); ++i) ASSERT_EQ(all[i], 0);
}

TEST(WeightInit, IsNormalWithTheDeviationOfThePublishedModels) {
  const UnitPlan plan = small_plan();
  const std::vector<double> all = whole(plan.units()[0], 11);
  double sum = 0, squares = 0, fourth = 0;
  for (const double w : all) sum += w, squares += w * w, fourth += w * w * w * w;
  const double n = static_cast<double>(all.size());
  EXPECT_NEAR(sum / n, 0, 4 * kInitDeviation / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), kInitDeviation, 0.05 * kInitDeviation);
  EXPECT_NEAR(fourth / n / std::pow(squares / n, 2), 3, 0.5);
}

TEST(WeightInit, SeedAndNameTellElementsApart) {
  const UnitPlan plan = small_plan();
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] && a[i] != 1 ? 1 : 0;
    return count;
  };
  EXPECT_EQ(same(whole(plan.units()[1], 3), whole(plan.units()[1], 4)), 0u);
  EXPECT_EQ(same(whole(plan.units()[1], 3), whole(plan.units()[2], 3)), 0u);
}

TEST(WeightInit, FloatsAreTheRoundedDoubles) {
  const Unit unit = small_plan().units()[1];
  const std::vector<double> exact = whole(unit, 3);
  std::vector<float> rounded(unit.elements);
  init_weights(unit, 3, 0, std::span<float>(rounded));
  for (std::size_t i = 0; i < exact.size(); ++i) {
    ASSERT_EQ(rounded[i], static_cast<float>(exact[i]));
  }
}

}  // namespace
}  // namespace muster::train
