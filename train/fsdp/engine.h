#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/comm/communicator.h"
#include "train/fsdp/gather_window.h"
#include "train/fsdp/gradient_staging.h"
#include "train/fsdp/sharded_state.h"
#include "train/fsdp/step_observer.h"
#include "train/math/model_math.h"
#include "train/optim/adamw.h"

namespace muster::train {

// Who computes together. Without HSDP `shards` is `world`, and there are no replicas. With it the
// ranks of a node hold one copy of the weights in slices (`shards`), and the ranks that hold the
// same slice on all nodes are `replicas`.
struct EngineRanks {
  Communicator* world = nullptr;
  Communicator* shards = nullptr;
  Communicator* replicas = nullptr;
};

// The same on all ranks.
struct EngineOptions {
  std::size_t prefetch = 1;          // units that are gathered ahead of the one computed
  std::optional<Dtype> wire;         // of gradients between ranks; absent: the type of sums
  std::optional<double> clip = 1.0;  // largest norm of a gradient; absent: not clipped
  AdamW adamw;
};

// One optimizer step of this rank. All but `micro_batches` is the same on all ranks, and so is the
// number of these, one at least.
struct StepInput {
  std::uint64_t step = 0;    // that this is, from 0
  std::uint64_t update = 1;  // of the weights, from 1: steps that were skipped do not count
  double learning_rate = 0;
  std::uint64_t labels = 0;  // that count in the loss, of all ranks
  std::span<const MicroBatch> micro_batches;
};

enum class StepOutcome : std::uint8_t {
  updated,
  not_finite,  // the loss or the norm; the weights are as they were
  no_labels,   // none counts in this step: nothing was computed
};

// The same on all ranks.
struct StepResult {
  StepOutcome outcome = StepOutcome::updated;
  std::optional<double> loss;  // mean over counted labels of all ranks
  std::optional<double> norm;  // of the whole gradient, before it is clipped
};

struct EngineMemory {        // bytes of this rank, beside those of ShardedState
  std::uint64_t sums = 0;    // of gradients
  std::uint64_t copies = 0;  // of this rank's weights in bf16, where that is computed in
  std::uint64_t gathered = 0, staging = 0;

  std::uint64_t total() const { return sums + copies + gathered + staging; }
};

struct EngineTraffic {                        // of this rank since the start
  std::uint64_t gathers = 0, reductions = 0;  // of units
  std::size_t most_gathered = 0;              // units that were held whole at once
};

// Fully sharded training as a schedule over the stages of a plan: who calls what in which order is
// known from the plan alone. Nothing is allocated after the start.
//
//   forward, stage by stage: wait for its unit, start the gathers of the next `prefetch`, compute
//   backward, the other way: the same, with gradients into a buffer whose sum over ranks is
//     started behind the gathers, so that the next stage never waits for it
//   once a step: sums over replicas, norm, clip, AdamW
//
// Results repeat bit by bit, whatever `prefetch` is; with another number of ranks sums are rounded
// in another order. One thread.
class Engine {
 public:
  // All must outlive it; state: of rank shards->rank() of shards->world(), of math's plan.
  Engine(ModelMath& math, ShardedState& state, const EngineRanks& ranks,
         const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Somebody else wrote into the master weights: they were loaded. Also before the first step.
  void weights_changed();

  // After an error this rank has given up everywhere, so that the others do not wait for it; no
  // further step. Errc::unavailable: of a collective. Errc::invalid_input: ids that are none,
  // ranks that do not agree on the step or on its labels.
  Result<StepResult> step(const StepInput& input, StepObserver& observer);

  EngineMemory memory() const;
  EngineTraffic traffic() const;

 private:
  // What is updated at once: elements of one unit's slice that all decay, or none of which does.
  struct Run {
    std::size_t unit = 0;
    std::uint64_t begin = 0, elements = 0;  // in the slice
    bool decays = true;
  };
  struct Totals {
    double loss_sum = 0;
    std::uint64_t labels = 0;
  };

  std::vector<Run> runs_of_slices() const;
  std::vector<const std::byte*> slices_to_gather() const;
  Status compute(const StepInput& input, StepObserver& observer, Totals& totals);
  Status forward(StepObserver& observer);
  Status backward(StepObserver& observer);
  Result<StepResult> end_step(const StepInput& input, StepObserver& observer, const Totals& totals);
  Status sum_replicas();
  Result<double> norm();
  void update(const StepInput& input, double norm);
  Error give_up(Error error);

  ModelMath& math_;
  ShardedState& state_;
  EngineRanks ranks_;
  EngineOptions options_;
  std::vector<Run> runs_;
  std::vector<AlignedBytes> sums_, copies_;  // of each unit; no copies but in bf16
  GatherWindow window_;
  GradientStaging staging_;
};

}  // namespace muster::train
