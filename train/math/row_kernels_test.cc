#include "train/math/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "train/math/kernel_set.h"
#include "train/model/bf16.h"

namespace muster::train {
namespace {

Buffer<double> numbers(std::size_t count, double from, double to) {
  Buffer<double> out(count);
  std::uint64_t seed = 7;
  for (double& value : out) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    value = from + (to - from) * static_cast<double>(seed >> 40) / 16777216.0;
  }
  return out;
}

template <typename T>
Buffer<T> as(const Buffer<double>& values) {
  Buffer<T> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, Bf16>) {
      out[i].bits = to_bf16(static_cast<float>(values[i]));
    } else {
      out[i] = static_cast<T>(values[i]);
    }
  }
  return out;
}

// silu(x) * 1 looks at nothing but the polynomial of the exponential.
template <typename T>
double worst_silu(const RowKernels<T>& kernels) {
  constexpr std::size_t kCount = 4001;
  Buffer<double> exact = numbers(2 * kCount, -60, 60);
  std::fill(exact.begin() + kCount, exact.end(), 1.0);
  const Buffer<T> in = as<T>(exact);
  Buffer<T> out(kCount);
  kernels.swiglu(in.data(), out.data(), 1, kCount);
  double worst = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double x = static_cast<double>(in[i]), wanted = x / (1 + std::exp(-x));
    worst = std::max(worst, std::abs(static_cast<double>(out[i]) / wanted - 1));
  }
  return worst;
}

std::vector<const KernelSet*> sets() {
  std::vector<const KernelSet*> out = {&kernel_set_v1()};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    out.push_back(&kernel_set_v3());
  }
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw")) {
    out.push_back(&kernel_set_v4());
  }
  return out;
}

TEST(RowKernels, TheExponentialIsExactEnoughOnEveryProcessor) {
  for (const KernelSet* set : sets()) {
    EXPECT_LE(worst_silu(set->f64), 1e-15);
    EXPECT_LE(worst_silu(set->f32), 6e-7);
  }
}

TEST(RowKernels, RoundToBf16AsTheConversionDoes) {
  std::vector<float> values = {0.0F, -0.0F, 1.0F, 3.3895314e38F, 1e-45F, -1.00390625F, 1.01171875F};
  values.push_back(std::numeric_limits<float>::infinity());
  values.push_back(-std::numeric_limits<float>::infinity());
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  for (std::uint32_t i = 0; i < 4096; ++i) {
    values.push_back(std::bit_cast<float>(i * 1048583U + 12345U));
  }
  for (const KernelSet* set : sets()) {
    Buffer<Bf16> out(values.size());
    set->bf16.round(values.data(), out.data(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(out[i].bits, to_bf16(values[i])) << values[i];
    }
  }
}

TEST(RowKernels, WhatIsNoNumberStaysNone) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const KernelSet* set : sets()) {
    for (std::size_t at = 0; at < 40; ++at) {
      Buffer<float> logits(40, 0.5F), out(40);
      logits[at] = none;
      const std::int32_t label = 3;
      EXPECT_TRUE(std::isnan(set->f32.classify(logits.data(), &label, out.data(), 1, 40, 1)));
      EXPECT_TRUE(std::isnan(out[7]));
      Buffer<float> in(80, 0.5F);
      in[at] = none;
      set->f32.swiglu(in.data(), out.data(), 1, 40);
      EXPECT_TRUE(std::isnan(out[at]));
    }
  }
}

TEST(RowKernels, AreTheSameOnEveryProcessorButForTheLastBits) {
  const std::size_t rows = 5, width = 72;
  const Buffer<double> x = numbers(rows * width, -2, 2), w = numbers(width, 0.5, 1.5);
  const Buffer<double> dy = numbers(rows * width, -1, 1), angles = numbers(rows * width, -3, 3);
  const HeadRows heads{rows, 3, 24, width};
  const ScoreBlock block{1, 3, 2, 4};
  std::vector<Buffer<double>> results;
  for (const KernelSet* set : sets()) {
    const RowKernels<double>& k = set->f64;
    Buffer<double> all;
    const auto keep = [&all](const Buffer<double>& part) {
      all.insert(all.end(), part.begin(), part.end());
    };
    Buffer<double> y(rows * width), inverse(rows), dx = dy, dw = w, more(rows * width);
    k.norm(x.data(), w.data(), y.data(), inverse.data(), rows, width, 1e-6);
    keep(y);
    k.norm_backward(x.data(), w.data(), inverse.data(), dy.data(), dx.data(), dw.data(), rows,
                    width);
    keep(dx), keep(dw);
    k.turn(heads, x.data(), w.data(), angles.data(), angles.data() + 100, y.data(), 1e-6);
    keep(y);
    k.turn_backward(heads, x.data(), w.data(), angles.data(), angles.data() + 100, dy.data(),
                    dx.data(), dw.data(), 1e-6);
    keep(dx), keep(dw);
    Buffer<double> p(24), log_sum(6), inverse_sum(6), dscore(24);
    k.soften(block, x.data(), p.data(), log_sum.data(), inverse_sum.data(), 0.7);
    keep(p), keep(log_sum), keep(inverse_sum);
    k.soften_backward(block, x.data(), log_sum.data(), dy.data(), w.data(), p.data(), dscore.data(),
                      0.7);
    keep(p), keep(dscore);
    k.collect(heads, x.data(), dy.data(), y.data(), more.data());
    keep(y), keep(more);
    k.spread(heads, x.data(), w.data(), y.data());
    keep(y);
    Buffer<double> dgate(rows * width), gated(rows * width / 2);
    k.swiglu_backward(x.data(), dy.data(), dgate.data(), gated.data(), rows, width / 2);
    keep(dgate), keep(gated);
    const std::vector<std::int32_t> labels = {3, -1, 71, 0, 5};
    all.push_back(k.classify(x.data(), labels.data(), y.data(), rows, width, 0.1));
    keep(y);
    set->product(true, 5, 18, 7, x.data(), 9, dy.data(), 20, y.data(), 18, true);
    keep(y);
    results.push_back(all);
  }
  for (const Buffer<double>& other : results) {
    for (std::size_t i = 0; i < other.size(); ++i) {
      ASSERT_NEAR(other[i], results[0][i], 1e-12 * (1 + std::abs(results[0][i]))) << i;
    }
  }
}

}  // namespace
}  // namespace muster::train
