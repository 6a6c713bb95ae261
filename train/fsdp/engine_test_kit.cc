#include "train/fsdp/engine_test_kit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "tests/support/late_ranks.h"
#include "tests/support/plain_trainer.h"
#include "train/comm/join.h"
#include "train/math/cpu_math.h"
#include "train/model/weight_init.h"

namespace muster::train {
namespace {

constexpr std::uint64_t kLength = 10, kSeed = 3;

// Writes what is no number into the gradient of one stage.
class PoisonedMath final : public ModelMath {
 public:
  PoisonedMath(std::unique_ptr<ModelMath> inner, std::uint64_t in_batch)
      : inner_(std::move(inner)), in_batch_(in_batch) {}
  const UnitPlan& plan() const override { return inner_->plan(); }
  Dtype compute() const override { return inner_->compute(); }
  Status begin(const MicroBatch& batch, double scale) override {
    ++batches_;
    return inner_->begin(batch, scale);
  }
  void forward(std::size_t stage, const std::byte* weights) override {
    inner_->forward(stage, weights);
  }
  double loss_sum() const override { return inner_->loss_sum(); }
  void backward(std::size_t stage, const std::byte* weights, std::byte* gradients) override {
    inner_->backward(stage, weights, gradients);
    if (batches_ != in_batch_ || stage != 1) return;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto low = static_cast<float>(nan);
    if (compute() == Dtype::f64) std::memcpy(gradients + 8 * 100, &nan, 8);
    if (compute() != Dtype::f64) std::memcpy(gradients + 4 * 100, &low, 4);
  }
  void logits(std::uint64_t position, const std::byte* weights, std::span<double> out) override {
    inner_->logits(position, weights, out);
  }
  std::uint64_t activation_bytes() const override { return inner_->activation_bytes(); }
  std::uint64_t executed_flops() const override { return inner_->executed_flops(); }

 private:
  std::unique_ptr<ModelMath> inner_;
  std::uint64_t in_batch_, batches_ = 0;
};

class Phases final : public StepObserver {
 public:
  void enter(StepPhase phase) override { seen.push_back(phase); }
  std::vector<StepPhase> seen;
};

// Sequence `index` of a step, and which of its tokens count.
struct Sequences {
  Sequences(const Trial& trial, std::uint64_t step, const std::vector<std::uint64_t>& indices)
      : count(indices.size()) {
    const auto vocabulary = trial_config(trial).vocabulary;
    for (const std::uint64_t index : indices) {
      std::uint64_t state = step * kTrialBatch + index + 1;
      for (std::uint64_t t = 0; t < kLength; ++t) {
        ids.push_back(static_cast<std::int32_t>(state % 7 * 5 % vocabulary));
        const bool none = trial.without_labels == step;
        counted.push_back(!none && (index + t) % 4 != 0 ? 1 : 0);
        state = state * 6364136223846793005u + 1442695040888963407u;
        state ^= state >> 33;
      }
    }
  }
  MicroBatch batch() const { return {count, kLength, ids, counted}; }
  std::uint64_t labels() const {
    std::uint64_t out = 0;
    for (std::size_t t = 0; t < counted.size(); ++t) {
      if (t % kLength != 0) out += counted[t];
    }
    return out;
  }

  std::uint64_t count;
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> counted;
};

std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t count) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(from + i);
  return out;
}

void init_slice(const Unit& unit, Dtype dtype, std::uint64_t begin, AlignedBytes& out) {
  if (dtype == Dtype::f64) {
    init_weights(unit, kSeed, begin, {reinterpret_cast<double*>(out.data()), out.size() / 8});
  } else {
    init_weights(unit, kSeed, begin, {reinterpret_cast<float*>(out.data()), out.size() / 4});
  }
}

double number_at(const AlignedBytes& memory, Dtype dtype, std::uint64_t at) {
  if (dtype == Dtype::f64) return reinterpret_cast<const double*>(memory.data())[at];
  return static_cast<double>(reinterpret_cast<const float*>(memory.data())[at]);
}

double rate_of(std::uint64_t step) {
  return 1e-3 * static_cast<double>(1 + step % 3);
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool same(const StepResult& a, const StepResult& b) {
  return a.outcome == b.outcome && same(a.loss.value_or(-1), b.loss.value_or(-1)) &&
         same(a.norm.value_or(-1), b.norm.value_or(-1));
}

// One rank on its thread.
struct Rank {
  std::unique_ptr<ShardedState> state;
  TrialResult result;
  std::optional<Error> error;
};

void train_rank(const Trial& trial, Communicator& world, Rank& out) {
  const int shards = trial.shards == 0 ? trial.world : trial.shards;
  const auto inside = world.split(world.rank() / shards, "shards");
  const auto across = world.split(world.rank() % shards, "replicas");
  EngineRanks ranks{&world, inside->get(), shards == trial.world ? nullptr : across->get()};
  auto math = make_cpu_math(trial_config(trial), trial.dtype, Keep::everything);
  const auto rank = static_cast<std::uint64_t>(world.rank());
  const std::uint64_t micro = trial.micro_batch;
  const std::uint64_t batches = kTrialBatch / micro / static_cast<std::uint64_t>(trial.world);
  if (trial.poison && trial.poison->first == world.rank()) {
    math = std::make_unique<PoisonedMath>(std::move(math), trial.poison->second * batches + 1);
  }
  out.state = std::make_unique<ShardedState>(math->plan(), trial.dtype,
                                             static_cast<std::uint64_t>((*inside)->rank()),
                                             static_cast<std::uint64_t>(shards));
  for (std::size_t unit = 0; unit < out.state->units.size(); ++unit) {
    const std::uint64_t slice = math->plan().slice(unit, out.state->shards);
    init_slice(math->plan().units()[unit], out.state->dtype, slice * out.state->shard,
               out.state->units[unit].master);
  }
  Engine engine(*math, *out.state, ranks, trial.options);
  engine.weights_changed();
  std::uint64_t updates = 0;
  for (std::uint64_t step = 0; step < trial.steps; ++step) {
    std::vector<Sequences> parts;
    for (std::uint64_t j = 0; j < batches; ++j) {
      const std::uint64_t from = (j * static_cast<std::uint64_t>(trial.world) + rank) * micro;
      parts.emplace_back(trial, step, range(from, micro));
    }
    std::vector<MicroBatch> micro_batches;
    for (const Sequences& part : parts) micro_batches.push_back(part.batch());
    const std::uint64_t labels = Sequences(trial, step, range(0, kTrialBatch)).labels();
    StepInput input{step, updates + 1, rate_of(step), labels, micro_batches};
    if (step == 1 && trial.mistake && trial.mistake->first == world.rank()) {
      input.labels += trial.mistake->second == Trial::Mistake::labels ? 1 : 0;
      input.step += trial.mistake->second == Trial::Mistake::step ? 1 : 0;
      if (trial.mistake->second == Trial::Mistake::ids) parts.back().ids.back() = -1;
    }
    Phases phases;
    const auto result = engine.step(input, phases);
    if (!result) {
      out.error = result.error();
      return;
    }
    if (step == 0) out.result.phases = phases.seen;
    if (step == 0) out.result.memory = engine.memory();
    updates += result->outcome == StepOutcome::updated ? 1 : 0;
    out.result.steps.push_back(*result);
  }
  out.result.memory_grew = engine.memory().total() > out.result.memory.total();
  out.result.traffic = engine.traffic();
}

}  // namespace

std::vector<double> TrialResult::losses() const {
  std::vector<double> out;
  for (const StepResult& step : steps) out.push_back(step.loss.value_or(-1));
  return out;
}

std::vector<double> TrialResult::norms() const {
  std::vector<double> out;
  for (const StepResult& step : steps) out.push_back(step.norm.value_or(-1));
  return out;
}

Qwen3Config trial_config(const Trial& trial) {
  Qwen3Config config;
  config.vocabulary = trial.vocabulary;
  config.hidden = 16;
  config.intermediate = 24;
  config.layers = 3;
  config.heads = 2;
  config.kv_heads = 1;
  config.head_dim = 8;
  config.max_positions = 64;
  config.tied = trial.tied;
  return config;
}

TrialResult run_trial(const Trial& trial) {
  auto comms = trial.late ? testing_support::make_late_ranks(trial.world)
                          : join_threads(trial.world, {CommOptions()});
  std::vector<Rank> ranks(comms.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    threads.emplace_back([&, r] { train_rank(trial, *comms[r], ranks[r]); });
  }
  for (std::thread& thread : threads) thread.join();
  TrialResult out = ranks.front().result;
  for (const Rank& rank : ranks) {
    if (rank.error) out.errors.push_back(rank.error->code);
    out.agreed = out.agreed && !rank.error &&
                 std::equal(out.steps.begin(), out.steps.end(), rank.result.steps.begin(),
                            rank.result.steps.end(),
                            [](const StepResult& a, const StepResult& b) { return same(a, b); });
  }
  const UnitPlan plan(trial_config(trial));
  for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
    const std::uint64_t shards = ranks.front().state->shards;
    const std::uint64_t slice = plan.slice(unit, shards);
    for (std::uint64_t i = 0; i < slice * shards; ++i) {
      const ShardedState& state = *ranks[i / slice].state;
      const UnitShard& shard = state.units[unit];
      if (i < plan.units()[unit].elements) {
        out.weights.push_back(number_at(shard.master, state.dtype, i % slice));
        continue;
      }
      for (const AlignedBytes* part : {&shard.master, &shard.first_moment, &shard.second_moment}) {
        out.padding_is_zero = out.padding_is_zero && number_at(*part, state.dtype, i % slice) == 0;
      }
    }
  }
  return out;
}

// ---- the same, plainly -------------------------------------------------------------------------

TrialResult run_plain(const Trial& trial) {
  const auto math = make_cpu_math(trial_config(trial), Dtype::f64, Keep::everything);
  PlainTrainer plain(*math, kSeed);
  const AdamW& a = trial.options.adamw;
  TrialResult out;
  for (std::uint64_t step = 0; step < trial.steps; ++step) {
    const Sequences all(trial, step, range(0, kTrialBatch));
    const auto labels = static_cast<double>(all.labels());
    plain.clear_gradients();
    const double loss = plain.add(all.batch(), 1 / labels) / labels;
    const double norm = plain.step({rate_of(step), a.beta1, a.beta2, a.epsilon, a.weight_decay,
                                    trial.options.clip.value_or(0)});
    out.steps.push_back({StepOutcome::updated, loss, norm});
  }
  for (std::size_t unit = 0; unit < math->plan().units().size(); ++unit) {
    const std::vector<double>& weights = plain.master(unit);
    out.weights.insert(out.weights.end(), weights.begin(), weights.end());
  }
  return out;
}

}  // namespace muster::train
