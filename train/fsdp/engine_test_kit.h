#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/fsdp/engine.h"
#include "train/model/qwen3_config.h"

namespace muster::train {

// A short training on a few made-up sequences, the same for every number of ranks.
struct Trial {
  Dtype dtype = Dtype::f64;
  bool tied = false;
  std::uint64_t vocabulary = 40;
  int world = 1;
  int shards = 0;  // ranks that hold one copy; 0: all
  std::uint64_t micro_batch = 1, steps = 20;
  EngineOptions options = {1, {}, 1.0, {0.9, 0.999, 1e-8, 0.1}};
  bool late = true;  // ranks of tests/support/late_ranks.h; otherwise those of join_threads()
  // This rank's gradient is not a number in this step.
  std::optional<std::pair<int, std::uint64_t>> poison;
  // In this step no token counts.
  std::optional<std::uint64_t> without_labels;
  // What this rank believes of the second step, where all others are right.
  enum class Mistake : std::uint8_t { labels, step, ids };
  std::optional<std::pair<int, Mistake>> mistake;
};

struct TrialResult {
  std::vector<StepResult> steps;  // as rank 0 has them
  bool agreed = true;             // all ranks had the same, and no error
  std::vector<Errc> errors;       // of the ranks that had one, in their order
  bool padding_is_zero = true;    // of weights and moments of all ranks
  std::vector<double> weights;    // of all units, without padding, of the first replica
  EngineMemory memory;            // of rank 0, after the last step
  bool memory_grew = false;       // after the first step
  EngineTraffic traffic;          // of rank 0
  std::vector<StepPhase> phases;  // of rank 0 in the first step

  std::vector<double> losses() const;
  std::vector<double> norms() const;
};

Qwen3Config trial_config(const Trial& trial);
inline constexpr std::uint64_t kTrialBatch = 8;  // sequences of a step over all ranks

TrialResult run_trial(const Trial& trial);

// The same without slices, ranks and engine, in f64 (tests/support/plain_trainer.h).
TrialResult run_plain(const Trial& trial);

}  // namespace muster::train
