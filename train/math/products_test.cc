#include "train/math/products.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <cmath>
#include <csignal>
#include <vector>

#include "train/model/bf16.h"

namespace muster::train {
namespace {

void store(double value, double& to) {
  to = value;
}
void store(double value, float& to) {
  to = static_cast<float>(value);
}
void store(double value, Bf16& to) {
  to.bits = to_bf16(static_cast<float>(value));
}
double load(double value) {
  return value;
}
double load(float value) {
  return static_cast<double>(value);
}
double load(Bf16 value) {
  return static_cast<double>(from_bf16(value.bits));
}

// Numbers between -1 and 1 that look like chance, a few more than needed beside each row.
template <typename T>
Buffer<T> matrix(std::size_t rows, std::size_t ld, std::uint64_t seed) {
  Buffer<T> out(rows * ld);
  for (T& value : out) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    store(static_cast<double>(seed >> 40) / 8388608.0 - 1, value);
  }
  return out;
}

template <typename T, typename C>
void compare(Products& products, const ProductShape& shape, double tolerance) {
  const bool a_turned = shape.form == Form::tn, b_turned = shape.form == Form::nt;
  const auto a = matrix<T>(a_turned ? shape.k : shape.m, shape.lda, 1);
  const auto b = matrix<T>(b_turned ? shape.n : shape.k, shape.ldb, 2);
  Buffer<C> c = matrix<C>(shape.m, shape.ldc, 3);
  const Buffer<C> before = c;
  products.run(shape, a.data(), b.data(), c.data());
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t j = 0; j < shape.ldc; ++j) {
      double sum = shape.add ? load(before[i * shape.ldc + j]) : 0;
      for (std::size_t p = 0; p < shape.k && j < shape.n; ++p) {
        sum += load(a[a_turned ? p * shape.lda + i : i * shape.lda + p]) *
               load(b[b_turned ? j * shape.ldb + p : p * shape.ldb + j]);
      }
      if (j >= shape.n) sum = load(before[i * shape.ldc + j]);  // beside C: untouched
      ASSERT_NEAR(load(c[i * shape.ldc + j]), sum, tolerance) << i << ' ' << j;
    }
  }
}

TEST(Products, AreThoseOfThePlainDefinition) {
  Products products;
  std::uint64_t flops = 0;
  for (const Form form : {Form::nt, Form::nn, Form::tn}) {
    for (const bool add : {false, true}) {
      for (const std::size_t m : {1u, 5u, 32u}) {
        for (const std::size_t n : {1u, 17u, 48u}) {
          for (const std::size_t k : {1u, 9u, 64u}) {
            SCOPED_TRACE(::testing::Message() << static_cast<int>(form) << (add ? " add " : " ")
                                              << m << ' ' << n << ' ' << k);
            const ProductShape shape{
                form,  m,  n, k, (form == Form::tn ? m : k) + 3, (form == Form::nt ? k : n) + 5,
                n + 7, add};
            compare<double, double>(products, shape, 1e-13);
            compare<float, float>(products, shape, 1e-5);
            compare<Bf16, float>(products, shape, 1e-5);
            compare<Bf16, Bf16>(products, shape, 0.1);
            flops += 4 * 2 * m * n * k;
            EXPECT_EQ(products.flops(), flops);
          }
        }
      }
    }
  }
}

volatile std::sig_atomic_t signals_seen = 0;

void on_alarm(int) {
  signals_seen = signals_seen + 1;
}

// Code that keeps its data under the stack pointer would find the handler's frame among them.
TEST(Products, ASignalMeanwhileHarmsNothing) {
  if (!__builtin_cpu_supports("avx512vl")) {
    GTEST_SKIP() << "without AVX-512 signals are to be blocked (cpu_math.h)";
  }
  constexpr std::size_t n = 128;
  const auto a = matrix<float>(n, n, 1), b = matrix<float>(n, n, 2);
  Products products;
  struct sigaction action = {}, before = {};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often = {{0, 200}, {0, 200}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  bool same = true;
  for (const Form form : {Form::nt, Form::nn, Form::tn}) {
    Buffer<float> first(n * n), c(n * n);
    products.run({form, n, n, n, n, n, n, false}, a.data(), b.data(), first.data());
    signals_seen = 0;
    while (signals_seen < 50 && same) {
      products.run({form, n, n, n, n, n, n, false}, a.data(), b.data(), c.data());
      same = c == first;
    }
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(same);
}

}  // namespace
}  // namespace muster::train
