#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "train/math/model_math.h"

namespace muster::train {

// What one rank computes in one optimizer step.
struct StepBlocks {
  std::uint64_t micro_batch = 0, length = 0;  // blocks at once, tokens of a block
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> counted;  // 1: this token counts as a label
  // Labels of the step over all ranks, known from the plan: no rank asks another one while it
  // trains, and the sums of the step show where they do not agree.
  std::uint64_t labels = 0;

  std::vector<MicroBatch> micro_batches() const;  // as long as this stays as it is
};

// How a run cuts its blocks into steps; the same on all ranks but for `rank`.
struct StepCut {
  std::uint64_t accumulation = 1;  // micro batches of a rank in a step
  std::uint64_t micro_batch = 1;
  std::uint64_t rank = 0, world = 1;
  std::uint64_t seed = 0;  // of the order

  std::uint64_t global_batch() const { return accumulation * micro_batch * world; }
};

// Errc::invalid_input: a zero, a rank beyond the world, a global batch beyond
// limits::kPackGlobalBatch.
Status check_cut(const StepCut& cut);

// Blocks of tokens in the order of steps. One thread.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  virtual std::uint64_t block_tokens() const = 0;
  virtual std::uint64_t blocks() const = 0;  // that this rank knows of
  // Whole steps of one epoch, as far as this rank knows.
  virtual std::uint64_t steps() const = 0;
  // Whether all ranks read the same data, or each has its own.
  virtual bool shared() const = 0;
  // Names the data that this rank reads, by its content.
  virtual std::uint64_t digest() const = 0;

  // step < steps(), of this epoch. `out` is used again: after the first step it allocates nothing.
  virtual Status read(std::uint64_t epoch, std::uint64_t step, StepBlocks& out) = 0;
};

}  // namespace muster::train
