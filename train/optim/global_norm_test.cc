#include "train/optim/global_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace muster::train {
namespace {

template <typename T>
double sum_of(const std::vector<T>& values) {
  return sum_of_squares(sizeof(T) == 8 ? Dtype::f64 : Dtype::f32,
                        reinterpret_cast<const std::byte*>(values.data()), values.size());
}

TEST(GlobalNorm, NothingIsZero) {
  EXPECT_EQ(sum_of(std::vector<float>{}), 0);
}

TEST(GlobalNorm, OneBadElementAnywhereShows) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (std::size_t at = 0; at < 37; ++at) {
      std::vector<float> values(37, 0.5f);
      values[at] = bad;
      EXPECT_FALSE(std::isfinite(sum_of(values))) << at;
    }
  }
}

TEST(GlobalNorm, OfAnyLength) {
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<float> low;
    std::vector<double> high;
    double expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double value = 0.25 * static_cast<double>(i) - 3;  // exact in both
      low.push_back(static_cast<float>(value));
      high.push_back(value);
      expected += value * value;
    }
    EXPECT_EQ(sum_of(low), expected) << n;
    EXPECT_EQ(sum_of(high), expected) << n;
  }
}

TEST(GlobalNorm, SquaresOfFloatsDoNotOverflow) {
  EXPECT_NEAR(std::sqrt(sum_of(std::vector<float>(4, 1e38f))), 2e38, 1e31);
  EXPECT_GT(sum_of(std::vector<float>(4, 1e-38f)), 0);
}

TEST(GlobalNorm, Clip) {
  struct Row {
    const char* name;
    double norm;
    std::optional<double> largest;
    double factor;
  };
  const Row rows[] = {
      {"no limit", 1e9, {}, 1},
      {"zero", 0, 1.0, 1},
      {"below", 0.5, 1.0, 1},
      {"at the limit, as torch", 1, 1.0, 1 / (1 + 1e-6)},
      {"above", 4, 1.0, 1 / (4 + 1e-6)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(clip_factor(row.norm, row.largest), row.factor);
  }
}

}  // namespace
}  // namespace muster::train
