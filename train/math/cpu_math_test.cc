#include "train/math/cpu_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/plain_trainer.h"

namespace muster::train {
namespace {

Qwen3Config small_config(bool tied) {
  Qwen3Config c;
  c.vocabulary = 61, c.hidden = 24, c.intermediate = 40, c.layers = 2;
  c.heads = 6, c.kv_heads = 2, c.head_dim = 8, c.max_positions = 256, c.tied = tied;
  return c;
}

// Ids that look like chance; every fifth token is no label.
struct Batch {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> counted;
  std::uint64_t sequences, length;

  Batch(std::uint64_t count, std::uint64_t each, std::uint64_t vocabulary, std::uint64_t seed = 1)
      : sequences(count), length(each) {
    for (std::uint64_t i = 0; i < count * each; ++i) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      ids.push_back(static_cast<std::int32_t>((seed >> 33) % vocabulary));
      counted.push_back(i % 5 == 3 ? 0 : 1);
    }
  }
  MicroBatch view() const { return {sequences, length, ids, counted}; }
  double labels() const {
    double count = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) count += i % length != 0 ? counted[i] : 0;
    return count;
  }
};

// Of all gradients of two trainers, tensor by tensor: distance over length.
double worst_difference(const UnitPlan& plan, const PlainTrainer& a, const PlainTrainer& b,
                        std::string* where = nullptr) {
  double worst = 0;
  for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
    for (const TensorSpec& tensor : plan.units()[unit].tensors) {
      double apart = 0, all = 0;
      for (std::size_t i = tensor.offset; i < tensor.offset + tensor.elements(); ++i) {
        apart += std::pow(a.gradient(unit, i) - b.gradient(unit, i), 2);
        all += std::pow(b.gradient(unit, i), 2);
      }
      const double ratio = std::sqrt(apart / all);
      if (!(ratio <= worst)) {
        worst = ratio;
        if (where != nullptr) *where = tensor.name;
      }
    }
  }
  return worst;
}

double loss_of(ModelMath& math, const PlainTrainer& trainer, const Batch& batch) {
  EXPECT_TRUE(math.begin(batch.view(), 1));
  for (std::size_t stage = 0; stage < math.plan().stages().size(); ++stage) {
    math.forward(stage, trainer.weights(math.plan().stages()[stage].unit));
  }
  return math.loss_sum();
}

TEST(CpuMath, GradientsAreThoseOfFiniteDifferences) {
  for (const bool tied : {false, true}) {
    const Qwen3Config config = small_config(tied);
    const Batch batch(2, 37, config.vocabulary);
    const auto math = make_cpu_math(config, Dtype::f64, Keep::everything);
    PlainTrainer trainer(*math, 5), probe(*math, 5);
    const double scale = 1 / batch.labels();
    trainer.add(batch.view(), scale);
    for (std::size_t unit = 0; unit < math->plan().units().size(); ++unit) {
      for (const TensorSpec& tensor : math->plan().units()[unit].tensors) {
        for (const std::size_t part : {0u, 3u, 7u}) {  // first, last and between
          const std::size_t at = tensor.offset + (tensor.elements() - 1) * part / 7;
          double& w = probe.master(unit)[at];
          const double before = w, step = 1e-5;
          double loss[2];
          for (int side = 0; side < 2; ++side) {
            w = before + (side == 0 ? step : -step);
            probe.round_weights();
            loss[side] = loss_of(*math, probe, batch) * scale;
          }
          w = before;
          const double slope = (loss[0] - loss[1]) / (2 * step);
          EXPECT_NEAR(trainer.gradient(unit, at), slope, 1e-9 + 1e-5 * std::abs(slope))
              << tensor.name << ' ' << at - tensor.offset << (tied ? " tied" : "");
        }
      }
    }
  }
}

// Loss and gradients of one batch with the same weights.
struct Pass {
  std::unique_ptr<ModelMath> math;
  PlainTrainer trainer;
  double loss;

  Pass(const Qwen3Config& config, Dtype compute, const Batch& batch, Keep keep = Keep::everything)
      : math(make_cpu_math(config, compute, keep)), trainer(*math, 5) {
    loss = trainer.add(batch.view(), 1 / batch.labels()) / batch.labels();
  }
};

TEST(CpuMath, F32AndBf16AgreeWithF64) {
  const struct {
    Dtype compute;
    double loss, gradients;
  } kRows[] = {{Dtype::f32, 1e-6, 1e-5}, {Dtype::bf16, 1e-2, 3e-2}};
  for (const auto& row : kRows) {
    for (const bool tied : {false, true}) {
      const Qwen3Config config = small_config(tied);
      // Long enough for several blocks of attention, and one that is not full.
      const Batch batch(2, 200, config.vocabulary);
      const Pass exact(config, Dtype::f64, batch), rounded(config, row.compute, batch);
      EXPECT_NEAR(exact.loss, std::log(61), 0.1);
      EXPECT_NEAR(rounded.loss, exact.loss, row.loss);
      std::string where;
      EXPECT_LE(worst_difference(exact.math->plan(), rounded.trainer, exact.trainer, &where),
                row.gradients)
          << where << (tied ? " tied" : "") << ' ' << dtype_bytes(row.compute);
      EXPECT_EQ(rounded.math->executed_flops(), exact.math->executed_flops());
    }
  }
}

TEST(CpuMath, ATiedGradientIsTheSumOfBothUses) {
  const Qwen3Config tied = small_config(true), untied = small_config(false);
  const Batch batch(2, 20, tied.vocabulary);
  const auto one = make_cpu_math(tied, Dtype::f64, Keep::everything);
  const auto two = make_cpu_math(untied, Dtype::f64, Keep::everything);
  PlainTrainer a(*one, 5), b(*two, 5);
  const std::size_t matrix = tied.vocabulary * tied.hidden, head = tied.layers + 1;
  for (std::size_t unit = 0; unit <= tied.layers; ++unit) {
    for (std::size_t i = 0; i < b.master(unit).size(); ++i) b.master(unit)[i] = a.master(unit)[i];
  }
  for (std::size_t i = 0; i < tied.hidden; ++i) b.master(head)[i] = a.master(0)[matrix + i];
  for (std::size_t i = 0; i < matrix; ++i) b.master(head)[tied.hidden + i] = a.master(0)[i];
  b.round_weights();
  EXPECT_EQ(a.add(batch.view(), 1), b.add(batch.view(), 1));
  for (std::size_t i = 0; i < matrix; ++i) {
    const double both = b.gradient(0, i) + b.gradient(head, tied.hidden + i);
    ASSERT_NEAR(a.gradient(0, i), both, 1e-12 + 1e-12 * std::abs(both)) << i;
  }
}

TEST(CpuMath, SequencesOfAMicroBatchDoNotSeeEachOther) {
  const Qwen3Config config = small_config(false);
  const Batch pair(2, 70, config.vocabulary);
  const Pass together(config, Dtype::f64, pair);
  const auto math = make_cpu_math(config, Dtype::f64, Keep::everything);
  PlainTrainer alone(*math, 5);
  double loss = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const MicroBatch one{1, 70, std::span(pair.ids).subspan(i * 70, 70),
                         std::span(pair.counted).subspan(i * 70, 70)};
    loss += alone.add(one, 1 / pair.labels());
  }
  EXPECT_NEAR(loss / pair.labels(), together.loss, 1e-13);
  EXPECT_LE(worst_difference(math->plan(), alone, together.trainer), 1e-12);
}

TEST(CpuMath, ATokenDependsOnNothingBehindIt) {
  const Qwen3Config config = small_config(false);
  Batch batch(1, 90, config.vocabulary);
  std::vector<double> before(config.vocabulary), after(config.vocabulary);
  const auto math = make_cpu_math(config, Dtype::f64, Keep::everything);
  const PlainTrainer trainer(*math, 5);
  const auto logits = [&](std::vector<double>& out) {
    ASSERT_TRUE(math->begin(batch.view(), 1));
    for (std::size_t stage = 0; stage <= config.layers; ++stage) {
      math->forward(stage, trainer.weights(stage));
    }
    math->logits(60, trainer.weights(config.layers + 1), out);
  };
  logits(before);
  for (std::size_t i = 61; i < 90; ++i) batch.ids[i] = (batch.ids[i] + 7) % 61;
  logits(after);
  EXPECT_EQ(before, after);
  batch.ids[0] = (batch.ids[0] + 7) % 61;
  logits(after);
  EXPECT_NE(before, after);
}

TEST(CpuMath, OnlyCountedLabelsOfTheSameSequenceCount) {
  const Qwen3Config config = small_config(false);
  Batch batch(3, 10, config.vocabulary);
  const auto loss = [&] { return Pass(config, Dtype::f64, batch).loss * batch.labels(); };
  batch.counted.assign(30, 0);
  double sum = 0;
  for (std::size_t i = 0; i < 30; ++i) {  // one label at a time
    batch.counted[i] = 1;
    const double one = batch.labels() == 0 ? 0 : loss();
    EXPECT_EQ(one > 0, i % 10 != 0) << i;  // nothing predicts the first token of a sequence
    sum += one;
    batch.counted[i] = 0;
  }
  batch.counted.assign(30, 1);
  EXPECT_NEAR(loss(), sum, 1e-11);
}

TEST(CpuMath, ScaleMultipliesGradientsAndNotTheLoss) {
  const Qwen3Config config = small_config(false);
  const Batch batch(1, 20, config.vocabulary);
  const auto math = make_cpu_math(config, Dtype::f64, Keep::everything);
  PlainTrainer one(*math, 5), four(*math, 5);
  EXPECT_EQ(one.add(batch.view(), 0.25), four.add(batch.view(), 1));
  for (int i = 0; i < 3; ++i) one.add(batch.view(), 0.25);
  EXPECT_LE(worst_difference(math->plan(), one, four), 1e-14);
}

TEST(CpuMath, ComputingLayersAgainChangesNoBitAndNeedsLessMemory) {
  for (const Dtype compute : {Dtype::f64, Dtype::f32, Dtype::bf16}) {
    Qwen3Config config = small_config(true);
    config.layers = 6;
    const Batch batch(2, 80, config.vocabulary);
    const Pass kept(config, compute, batch), again(config, compute, batch, Keep::inputs);
    EXPECT_EQ(kept.loss, again.loss);
    EXPECT_EQ(worst_difference(kept.math->plan(), kept.trainer, again.trainer), 0);
    EXPECT_LT(again.math->activation_bytes(), kept.math->activation_bytes() * 2 / 3);
    EXPECT_GT(again.math->executed_flops(), kept.math->executed_flops());
  }
}

TEST(CpuMath, RepeatsToTheBitAndKeepsItsMemory) {
  for (const Dtype compute : {Dtype::f64, Dtype::f32, Dtype::bf16}) {
    const Qwen3Config config = small_config(false);
    const Batch batch(2, 80, config.vocabulary), other(2, 80, config.vocabulary, 9);
    const Pass first(config, compute, batch), second(config, compute, batch);
    EXPECT_EQ(worst_difference(first.math->plan(), first.trainer, second.trainer), 0);
    const std::uint64_t bytes = first.math->activation_bytes();
    PlainTrainer third(*first.math, 5);
    third.add(other.view(), 1);
    third.clear_gradients();
    third.add(batch.view(), 1 / batch.labels());
    EXPECT_EQ(worst_difference(first.math->plan(), third, first.trainer), 0);
    EXPECT_EQ(first.math->activation_bytes(), bytes);
  }
}

TEST(CpuMath, AnIdThatTheModelDoesNotHaveIsRefusedWithItsPlace) {
  const Qwen3Config config = small_config(false);
  const auto math = make_cpu_math(config, Dtype::f32, Keep::everything);
  for (const std::int32_t bad : {61, -1, 2147483647}) {
    Batch batch(2, 10, config.vocabulary);
    batch.ids[13] = bad;
    const Status status = math->begin(batch.view(), 1);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Errc::invalid_input);
    EXPECT_NE(status.error().context.find("sequence 1, token 3"), std::string::npos)
        << status.error().context;
  }
}

TEST(CpuMath, LearnsABatchByHeart) {
  for (const Dtype compute : {Dtype::f64, Dtype::f32, Dtype::bf16}) {
    const Qwen3Config config = small_config(true);
    const Batch batch(1, 24, config.vocabulary);
    const auto math = make_cpu_math(config, compute, Keep::everything);
    PlainTrainer trainer(*math, 5);
    PlainTrainer::Rates rates;
    rates.learning = 1e-2;
    rates.clip = 1;
    double loss = 0;
    for (int step = 0; step < 40; ++step) {
      loss = trainer.add(batch.view(), 1 / batch.labels()) / batch.labels();
      trainer.step(rates);
    }
    EXPECT_LT(loss, 0.5) << dtype_bytes(compute);
  }
}

}  // namespace
}  // namespace muster::train
