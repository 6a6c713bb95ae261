#include "core/shape/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace muster::shape {
namespace {

using Values = std::vector<double>;

TEST(Statistics, OfNothingIsNothing) {
  const Values none;
  EXPECT_FALSE(quantile(none, 0.5));
  EXPECT_FALSE(fast_part(none));
  EXPECT_FALSE(spread_of(none));
  EXPECT_FALSE(theil_sen(none, none));
  EXPECT_FALSE(theil_sen(Values{1, 2}, Values{1, 2}));
  EXPECT_FALSE(theil_sen(Values{1, 1, 1}, Values{1, 2, 3})) << "no time passes";
  EXPECT_EQ(neighbour_correlation(none, {}), 0);
}

TEST(Statistics, Quantiles) {
  EXPECT_EQ(*median(Values{3}), 3);
  EXPECT_EQ(*median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(*quantile(Values{1, 2, 3, 4, 5}, 0), 1);
  EXPECT_EQ(*quantile(Values{1, 2, 3, 4, 5}, 1), 5);
}

TEST(Statistics, FastPartStandsSlowValues) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(100, 1);
  Values values;
  for (int i = 0; i < 1000; ++i) values.push_back(normal(random) * (i % 5 < 2 ? 1.5 : 1));
  const FastPart fast = *fast_part(values);
  EXPECT_NEAR(fast.level, 100, 1);
  EXPECT_NEAR(fast.sigma, 1, 0.5);
  EXPECT_GT(spread_of(values)->sigma, 1.5) << "which a median deviation does not";
}

TEST(Statistics, CorrelationOfNeighbours) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 1);
  Values white, red;
  double state = 0;
  for (int i = 0; i < 4000; ++i) {
    const double z = normal(random);
    white.push_back(z);
    state = 0.5 * state + std::sqrt(0.75) * z;
    red.push_back(state);
  }
  EXPECT_NEAR(neighbour_correlation(white, {0, 1}), 0, 0.05);
  EXPECT_NEAR(neighbour_correlation(red, {0, 1}), 0.5, 0.05);
  EXPECT_EQ(neighbour_correlation(red, {0, 0}), 0);
}

TEST(Statistics, TheilSen) {
  Values x, y, flat;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(i);
    y.push_back(5 + 0.01 * i + (i % 50 == 0 ? 100 : 0));
    flat.push_back(i % 7);
  }
  const Slope slope = *theil_sen(x, y);
  EXPECT_NEAR(slope.per_x, 0.01, 1e-4);
  EXPECT_NEAR(slope.at_start, 5, 0.05);
  EXPECT_GT(slope.trend_sigmas, 10);
  EXPECT_LE(slope.points, 200u);
  EXPECT_LT(std::abs(theil_sen(x, flat)->trend_sigmas), 3);
}

TEST(Statistics, RegularPeriod) {
  struct Row {
    const char* name;
    Values events;
    bool regular;
  };
  for (const Row& row : {Row{"none", {}, false},
                         {"four", {0, 8, 16, 24}, false},
                         {"at_once", {5, 5, 5, 5, 5}, false},
                         {"random", {0, 3, 20, 22, 60, 61, 90, 140}, false},
                         {"five_and_one_off", {0, 8, 16, 24, 45}, false},
                         {"growing", {0, 1, 3, 7, 15, 31, 63, 127}, false},
                         {"five", {0, 8, 16, 24, 32}, true},
                         {"nearly", {0, 50, 101, 149, 200}, true},
                         {"one_missed_of_many", {0, 8, 16, 24, 32, 48, 56, 64, 72}, true}}) {
    EXPECT_EQ(regular_period(row.events).has_value(), row.regular) << row.name;
  }
  EXPECT_EQ(regular_period(Values{3, 11, 19, 27, 35})->period, 8);
}

}  // namespace
}  // namespace muster::shape
