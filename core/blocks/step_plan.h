#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/blocks/block_order.h"

namespace muster::blocks {

// What to do with the last N mod G blocks of an epoch, fewer than one global batch.
enum class Remainder : std::uint8_t {
  drop,  // steps = floor(N / G); the blocks at the end of the order are not used in this epoch
  fill,  // steps = ceil(N / G); the last step takes what it lacks from the start of the next epoch
};

inline constexpr std::string_view kRemainderNames[] = {"drop", "fill"};

// One run's cut of N blocks into steps. Nothing here is of one rank: a rank is a number that goes
// into the arithmetic, and the number of steps is the same for all of them by construction.
struct StepShape {
  std::uint64_t blocks = 0;        // N, of the manifest
  std::uint64_t global_batch = 0;  // G, blocks of one step over all ranks
  std::uint64_t micro_batch = 1;   // m, blocks that a rank takes at once
  std::uint64_t world_size = 1;    // W
  Remainder remainder = Remainder::drop;

  bool operator==(const StepShape&) const = default;
};

// W for which W * m divides G, rising: each gives the same blocks in the same step. Empty where m
// does not divide G. 1 <= G <= limits::kPackGlobalBatch, m >= 1.
std::vector<std::uint64_t> valid_world_sizes(std::uint64_t global_batch, std::uint64_t micro_batch);

// Where step s, rank r, micro step j, slot i stands in the order of an epoch:
//   position = s G + j W m + r m + i,   a = G / (W m) micro steps of m slots
class StepPlan {
 public:
  // Errc::invalid_input: a zero, a number beyond its limit, fewer blocks than one global batch
  // (the run would end at once, with exit 0 and nothing trained), or a W that does not fit, with
  // the W that do.
  static Result<StepPlan> make(const StepShape& shape);

  const StepShape& shape() const { return shape_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t accumulation() const { return accumulation_; }  // a: micro steps of a step
  std::uint64_t blocks_of_rank() const;                         // steps * a * m, of each rank
  std::uint64_t dropped_blocks() const;                         // 0 with Remainder::fill
  std::uint64_t repeated_blocks() const;                        // 0 with Remainder::drop

  // step < steps(), rank < W, micro_step < a, slot < m. Up to G - 1 beyond N where the last step is
  // filled.
  std::uint64_t position(std::uint64_t step, std::uint64_t rank, std::uint64_t micro_step,
                         std::uint64_t slot) const;

 private:
  explicit StepPlan(const StepShape& shape);

  StepShape shape_;
  std::uint64_t steps_ = 0, accumulation_ = 0;
};

// The blocks of an epoch in the order of a plan. Cheap to copy and to make.
class EpochBlocks {
 public:
  EpochBlocks(const StepPlan& plan, std::uint64_t seed, std::uint64_t epoch);

  // The block at a position of StepPlan::position().
  std::uint64_t at(std::uint64_t position) const;

 private:
  BlockOrder order_, next_;
};

}  // namespace muster::blocks
