// The mathematics of the trainer on one core: the rate of executed floating-point operations of a
// whole forward and backward, against oneDNN's own product of two 1024 x 1024 matrices of f32 in
// the same run. `train_math_bench [rounds]`: rounds of both by turns, medians.
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <span>
#include <vector>

#include "base/median.h"
#include "tests/support/plain_trainer.h"
#include "train/math/cpu_math.h"
#include "train/math/products.h"

namespace muster::train {
namespace {

// Of this thread's own time: other work on the machine does not count.
double seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Qwen3Config tiny() {
  Qwen3Config c;
  c.vocabulary = 4096, c.hidden = 256, c.intermediate = 768, c.layers = 4;
  c.heads = 8, c.kv_heads = 2, c.head_dim = 32, c.max_positions = 256;
  return c;
}

// GFLOP/s of oneDNN.
double square_rate(Products& products) {
  constexpr std::size_t n = 1024;
  static const Buffer<float> a(n * n, 0.5F), b(n * n, 0.25F);
  static Buffer<float> c(n * n);
  const double begin = seconds();
  for (int i = 0; i < 8; ++i)
    products.run({Form::nn, n, n, n, n, n, n, false}, a.data(), b.data(), c.data());
  return 8 * 2.0 * n * n * n / (seconds() - begin) * 1e-9;
}

struct Model {
  std::unique_ptr<ModelMath> math;
  PlainTrainer trainer;
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> counted;
  MicroBatch batch;

  Model(Dtype compute, Keep keep) : math(make_cpu_math(tiny(), compute, keep)), trainer(*math, 1) {
    for (std::uint64_t i = 0; i < 4 * 256; ++i) {
      ids.push_back(static_cast<std::int32_t>(i * 2654435761 % 4096));
    }
    counted.assign(ids.size(), 1);
    batch = {4, 256, ids, counted};
    trainer.add(batch, 1.0 / 1024);
  }
};

struct Row {
  const char* name;
  Dtype compute;
  Keep keep;
};

void measure(const Row& row, int rounds) {
  Model model(row.compute, row.keep);
  Products products;
  square_rate(products);
  std::vector<double> rates, squares, tokens;
  for (int round = 0; round < rounds; ++round) {
    squares.push_back(square_rate(products));
    const std::uint64_t before = model.math->executed_flops();
    const double begin = seconds();
    model.trainer.add(model.batch, 1.0 / 1024);
    const double took = seconds() - begin;
    rates.push_back(static_cast<double>(model.math->executed_flops() - before) / took * 1e-9);
    tokens.push_back(1024 / took);
  }
  const double rate = median_of(rates), square = median_of(squares);
  fmt::print(
      "{:22} {:7.1f} GFLOP/s executed, oneDNN 1024^3 f32 {:6.1f}: {:5.1f} %; {:6.0f} tokens/s, "
      "{:.1f} MB of activations\n",
      row.name, rate, square, 100 * rate / square, median_of(tokens),
      static_cast<double>(model.math->activation_bytes()) * 1e-6);
}

}  // namespace
}  // namespace muster::train

int main(int argc, char** argv) {
  using namespace muster::train;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  for (const Row& row : {Row{"f32", Dtype::f32, Keep::everything},
                         Row{"f32, layers again", Dtype::f32, Keep::inputs},
                         Row{"bf16", Dtype::bf16, Keep::everything},
                         Row{"bf16, layers again", Dtype::bf16, Keep::inputs}}) {
    measure(row, rounds);
  }
}
