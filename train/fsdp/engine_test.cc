#include "train/fsdp/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "train/fsdp/engine_test_kit.h"

namespace muster::train {
namespace {

double worst(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.empty()) return HUGE_VAL;
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]));
  return out;
}

void expect_same_bits(const TrialResult& a, const TrialResult& b) {
  EXPECT_EQ(a.losses(), b.losses());
  EXPECT_EQ(a.norms(), b.norms());
  EXPECT_EQ(a.weights, b.weights);
}

TEST(Engine, EqualsPlainTraining) {
  struct Row {
    const char* name;
    bool tied;
    std::optional<double> clip;
  };
  const Row rows[] = {{"as it comes", false, {}}, {"clipped", false, 0.05}, {"tied", true, 0.05}};
  for (const Row& row : rows) {
    Trial trial;
    trial.tied = row.tied;
    trial.options.clip = row.clip;
    const TrialResult plain = run_plain(trial);
    EXPECT_LT(plain.losses().back(), 0.9 * plain.losses().front()) << "it learns";
    EXPECT_GT(plain.norms().back(), 0.05) << "the clip has something to do";
    for (const int world : {1, 2, 4}) {
      SCOPED_TRACE(testing::Message() << row.name << ", " << world << " ranks");
      trial.world = world;
      const TrialResult found = run_trial(trial);
      EXPECT_TRUE(found.agreed);
      EXPECT_TRUE(found.padding_is_zero);
      EXPECT_LE(worst(found.losses(), plain.losses()), 1e-12);
      EXPECT_LE(worst(found.norms(), plain.norms()), 1e-12);
      EXPECT_LE(worst(found.weights, plain.weights), 1e-11);
    }
  }
}

TEST(Engine, OneTwoAndFourRanks) {
  for (const auto& [dtype, most] : {std::pair(Dtype::f32, 2e-6), std::pair(Dtype::bf16, 2e-3)}) {
    Trial trial;
    trial.dtype = dtype;
    const TrialResult one = run_trial(trial);
    for (const int world : {2, 4}) {
      trial.world = world;
      EXPECT_LE(worst(run_trial(trial).losses(), one.losses()), most) << world;
    }
  }
}

// The same calls, made as early as they come.
TEST(Engine, RealRanksGiveTheSameBits) {
  for (const int shards : {0, 2}) {
    Trial trial;
    trial.dtype = Dtype::f32;
    trial.world = 4;
    trial.shards = shards;
    trial.steps = 6;
    const TrialResult late = run_trial(trial);
    trial.late = false;
    const TrialResult real = run_trial(trial);
    EXPECT_TRUE(real.agreed);
    expect_same_bits(real, late);
  }
}

TEST(Engine, RepeatsBitByBitWhateverIsGatheredAhead) {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    for (const bool tied : {false, true}) {
      Trial trial;
      trial.dtype = dtype;
      trial.tied = tied;
      trial.world = 4;
      trial.steps = 6;
      const TrialResult first = run_trial(trial);
      expect_same_bits(run_trial(trial), first);
      for (const std::size_t prefetch : {0u, 2u, 9u}) {
        trial.options.prefetch = prefetch;
        expect_same_bits(run_trial(trial), first);
      }
    }
  }
}

TEST(Engine, AccumulationIsOneLargeBatchUpToRounding) {
  Trial trial;
  trial.world = 2;
  trial.micro_batch = 4;
  const TrialResult large = run_trial(trial);
  for (const std::uint64_t micro : {1u, 2u}) {
    trial.micro_batch = micro;
    EXPECT_LT(worst(run_trial(trial).weights, large.weights), 1e-12);
  }
}

TEST(Engine, ReplicasOfSlicesEqualSlicesOverAll) {
  for (const bool tied : {false, true}) {
    Trial trial;
    trial.tied = tied;
    trial.world = 4;
    trial.steps = 8;
    const TrialResult sharded = run_trial(trial);
    for (const int shards : {1, 2}) {
      trial.shards = shards;
      const TrialResult hybrid = run_trial(trial);
      EXPECT_TRUE(hybrid.agreed);
      EXPECT_LT(worst(hybrid.weights, sharded.weights), 1e-12);
      EXPECT_LT(worst(hybrid.norms(), sharded.norms()), 1e-12);
    }
  }
}

TEST(Engine, OneGradientThatIsNoNumberIsSkippedByAll) {
  for (const auto& [dtype, shards] : {std::pair(Dtype::f64, 4), std::pair(Dtype::f32, 4),
                                      std::pair(Dtype::f32, 2), std::pair(Dtype::bf16, 4)}) {
    Trial trial;
    trial.dtype = dtype;
    trial.shards = shards;
    trial.world = 4;
    trial.steps = 4;
    trial.poison = {2, 1};
    const TrialResult found = run_trial(trial);
    ASSERT_EQ(found.steps.size(), 4u);
    EXPECT_TRUE(found.agreed);
    for (std::uint64_t step = 0; step < 4; ++step) {
      const bool bad = step == 1;
      EXPECT_EQ(found.steps[step].outcome, bad ? StepOutcome::not_finite : StepOutcome::updated);
      EXPECT_EQ(std::isfinite(*found.steps[step].norm), !bad);
    }
    EXPECT_TRUE(std::all_of(found.weights.begin(), found.weights.end(),
                            [](double w) { return std::isfinite(w); }));
  }
}

TEST(Engine, AStepWithoutLabelsChangesNothing) {
  Trial trial;
  trial.world = 2;
  trial.steps = 1;
  const TrialResult one = run_trial(trial);
  trial.steps = 2;
  trial.without_labels = 1;
  const TrialResult two = run_trial(trial);
  ASSERT_EQ(two.steps.size(), 2u);
  EXPECT_TRUE(two.agreed);
  EXPECT_EQ(two.steps[1].outcome, StepOutcome::no_labels);
  EXPECT_FALSE(two.steps[1].loss);
  EXPECT_EQ(two.weights, one.weights);
}

TEST(Engine, NoRankWaitsForOneThatIsWrong) {
  using enum Trial::Mistake;
  struct Row {
    const char* name;
    Trial::Mistake mistake;
    int shards;
  };
  const Row rows[] = {{"an id that is no token", ids, 4},
                      {"the same, in one of two replicas", ids, 2},
                      {"labels", labels, 4},
                      {"labels, in one of two replicas", labels, 2},
                      {"the step", step, 4}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Trial trial;
    trial.shards = row.shards;
    trial.world = 4;
    trial.steps = 3;
    trial.late = false;
    trial.mistake = {1, row.mistake};
    const TrialResult found = run_trial(trial);
    EXPECT_EQ(found.steps.size(), 1u);
    ASSERT_EQ(found.errors.size(), 4u) << "all leave";
    EXPECT_NE(std::count(found.errors.begin(), found.errors.end(), Errc::invalid_input), 0);
    for (const Errc error : found.errors) {
      // Who gave up first may have kept another one from finding out itself.
      EXPECT_TRUE(error == Errc::invalid_input || error == Errc::unavailable);
    }
  }
}

// ---- what a step costs -------------------------------------------------------------------------

TEST(Engine, GathersAndTheirBuffers) {
  struct Row {
    const char* name;
    bool tied;
    std::size_t prefetch;
    std::uint64_t micro_batch;
    std::size_t peak;
    std::uint64_t gathers, reductions;  // in one step
  };
  // Five stages: embed, three layers, head. Two ranks, so 8 / 2 / micro_batch micro batches.
  const Row rows[] = {
      {"one buffer: all but the two turns of a micro batch", false, 0, 4, 1, 9, 5},
      {"one ahead", false, 1, 4, 2, 8, 5},
      {"two ahead", false, 2, 4, 3, 7, 5},
      {"room for everything", false, 9, 4, 5, 5, 5},
      {"four micro batches, whose turns cost nothing", false, 1, 1, 2, 8 + 3 * 6, 4 * 5},
      {"tied: once, and the layers", true, 1, 4, 3, 1 + 4, 4},
      {"tied, four micro batches", true, 1, 1, 3, 1 + 4 + 3 * 2, 4 * 4},
      {"tied, nothing ahead", true, 0, 4, 2, 1 + 5, 4},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Trial trial;
    trial.tied = row.tied;
    trial.world = 2;
    trial.steps = 1;
    trial.micro_batch = row.micro_batch;
    trial.options.prefetch = row.prefetch;
    const TrialResult found = run_trial(trial);
    EXPECT_EQ(found.traffic.most_gathered, row.peak);
    EXPECT_EQ(found.traffic.gathers, row.gathers);
    EXPECT_EQ(found.traffic.reductions, row.reductions);
    EXPECT_FALSE(found.memory_grew);
  }
}

TEST(Engine, OneRankGathersNothingAndCopiesNothing) {
  Trial trial;
  trial.dtype = Dtype::f32;
  trial.steps = 1;
  const TrialResult found = run_trial(trial);
  EXPECT_EQ(found.traffic.gathers, 0u);
  EXPECT_EQ(found.memory.gathered + found.memory.staging + found.memory.copies, 0u);
}

// What a rank holds, beside activations: its part of what one rank alone would hold, and one unit
// whole (its weights, moments and gradient).
TEST(Engine, MemoryOfARankIsItsPartAndOneUnit) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16}) {
    for (const auto& [tied, world] :
         {std::pair(false, 2), std::pair(false, 4), std::pair(true, 2), std::pair(true, 4)}) {
      SCOPED_TRACE(testing::Message() << world << " ranks, tied " << tied);
      Trial trial;
      trial.dtype = dtype;
      trial.tied = tied;
      trial.vocabulary = tied ? 400 : 40;  // tied: the embedding is more than two layers
      trial.world = world;
      trial.steps = 2;
      const TrialResult found = run_trial(trial);
      const UnitPlan plan(trial_config(trial));
      const std::uint64_t sum = dtype_bytes(sum_dtype(dtype));
      const std::uint64_t each = 4 * sum + (dtype == Dtype::bf16 ? 2 : 0);
      const auto ranks = static_cast<std::uint64_t>(world);
      std::uint64_t elements = 0;
      for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
        elements += plan.slice(unit, ranks);
      }
      EXPECT_LE(3 * sum * elements + found.memory.total(),
                each * (elements + plan.largest_unit(ranks)));
      EXPECT_FALSE(found.memory_grew);
    }
  }
}

TEST(Engine, TellsItsPhases) {
  Trial trial;
  trial.world = 2;
  trial.steps = 1;
  const TrialResult found = run_trial(trial);
  for (const StepPhase phase : {StepPhase::forward, StepPhase::gather_wait, StepPhase::backward,
                                StepPhase::reduce_wait, StepPhase::optimizer}) {
    EXPECT_NE(std::count(found.phases.begin(), found.phases.end(), phase), 0);
  }
  EXPECT_EQ(found.phases.front(), StepPhase::forward);
  EXPECT_EQ(found.phases.back(), StepPhase::optimizer);
}

}  // namespace
}  // namespace muster::train
