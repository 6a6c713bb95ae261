#include "train/optim/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "train/model/bf16.h"

namespace muster::train {
namespace {

struct Weight {
  double w, m = 0, v = 0;
};

// The paper's algorithm 2, one number at a time.
void plain(const AdamW& a, const AdamWUpdate& u, bool decays, double g, Weight& x) {
  g *= u.gradient_scale;
  if (decays) x.w -= u.learning_rate * a.weight_decay * x.w;
  x.m = a.beta1 * x.m + (1 - a.beta1) * g;
  x.v = a.beta2 * x.v + (1 - a.beta2) * g * g;
  const double m = x.m / (1 - std::pow(a.beta1, static_cast<double>(u.number)));
  const double v = x.v / (1 - std::pow(a.beta2, static_cast<double>(u.number)));
  x.w -= u.learning_rate * m / (std::sqrt(v) + a.epsilon);
}

template <typename T>
struct Memory {
  explicit Memory(std::size_t n) : master(n), first(n), second(n), gradient(n), low(n) {}
  AdamWRun run(bool decays, bool with_low) {
    return {sizeof(T) == 8 ? Dtype::f64 : Dtype::f32,
            decays,
            master.size(),
            reinterpret_cast<std::byte*>(master.data()),
            reinterpret_cast<std::byte*>(first.data()),
            reinterpret_cast<std::byte*>(second.data()),
            reinterpret_cast<std::byte*>(gradient.data()),
            with_low ? reinterpret_cast<std::byte*>(low.data()) : nullptr};
  }
  std::vector<T> master, first, second, gradient;
  std::vector<std::uint16_t> low;
};

template <typename T>
double worst_difference(const AdamW& adamw, bool decays, double scale) {
  constexpr std::size_t kCount = 77;  // no multiple of a vector
  Memory<T> memory(kCount);
  std::vector<Weight> expected;
  for (std::size_t i = 0; i < kCount; ++i) {
    memory.master[i] = static_cast<T>(0.01 * static_cast<double>(i) - 0.3);
    expected.push_back({static_cast<double>(memory.master[i])});
  }
  double worst = 0;
  for (std::uint64_t number = 1; number <= 20; ++number) {
    const AdamWUpdate update{number, 1e-3 * static_cast<double>(number % 5), scale};
    for (std::size_t i = 0; i < kCount; ++i) {
      memory.gradient[i] = static_cast<T>(std::sin(static_cast<double>(i * number)));
      plain(adamw, update, decays, static_cast<double>(memory.gradient[i]), expected[i]);
    }
    apply(adamw, update, memory.run(decays, false));
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(memory.gradient[i], 0);
      const auto w = static_cast<double>(memory.master[i]);
      worst = std::max(worst, std::abs(w - expected[i].w));
    }
  }
  return worst;
}

TEST(AdamWTest, FollowsThePaper) {
  struct Row {
    const char* name;
    AdamW adamw;
    bool decays;
    double scale;
  };
  const Row rows[] = {
      {"as it comes", {}, true, 1},
      {"decay", {0.9, 0.999, 1e-8, 0.1}, true, 1},
      {"decay, and a tensor without", {0.9, 0.999, 1e-8, 0.1}, false, 1},
      {"clipped", {}, true, 0.03},
      {"other betas, a large epsilon", {0.8, 0.95, 1e-3, 0.01}, true, 0.5},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_LT(worst_difference<double>(row.adamw, row.decays, row.scale), 1e-14);
    EXPECT_LT(worst_difference<float>(row.adamw, row.decays, row.scale), 1e-5);
  }
}

TEST(AdamWTest, ZeroStaysZero) {
  // Padding of a unit, should anybody pass over it.
  Memory<float> memory(9);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    apply({0.9, 0.999, 1e-8, 0.1}, {number, 1e-2, 1}, memory.run(true, true));
  }
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(memory.master[i], 0);
    EXPECT_EQ(memory.low[i], 0);
  }
}

TEST(AdamWTest, LowGetsTheNewWeightsAndChangesNothingElse) {
  Memory<float> with(100), without(100);
  for (std::size_t i = 0; i < 100; ++i) {
    with.master[i] = without.master[i] = 1.0f / static_cast<float>(i + 1);
    with.gradient[i] = without.gradient[i] = static_cast<float>(i) - 50;
  }
  apply({}, {1, 1e-2, 1}, with.run(true, true));
  apply({}, {1, 1e-2, 1}, without.run(true, false));
  EXPECT_EQ(with.master, without.master);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(with.low[i], to_bf16(with.master[i]));
}

}  // namespace
}  // namespace muster::train
