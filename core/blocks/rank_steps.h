#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace muster::blocks {

// How units of data (blocks, samples) become steps on one rank: units make micro batches, those
// make steps. What does not fill a micro batch is left out or makes a smaller one; micro batches
// that do not fill a step are left out.
struct StepRule {
  std::uint64_t micro_batch = 1;
  std::uint64_t accumulation = 1;
  bool drop_last = true;
};

// What `units` of each rank mean for a run in which nobody equalizes.
struct StepSpread {
  std::uint64_t least_units = 0, most_units = 0;
  std::uint64_t least_batches = 0, most_batches = 0;
  std::uint64_t least_steps = 0, most_steps = 0;
  std::vector<std::size_t> shortest;  // who has the fewest units, by place in the input
  std::vector<std::size_t> stoppers;  // who makes the fewest steps
  // Where every rank stops at least_units: what the others do not use; no less than that beyond 64
  // bits.
  std::uint64_t left_by_equalizing = 0;

  // The shortest rank leaves after its last step; the others wait for it in the one behind it.
  std::optional<std::uint64_t> hangs_in_step() const {
    return least_steps < most_steps ? std::optional(least_steps + 1) : std::nullopt;
  }
};

// At least one rank; micro_batch and accumulation at least 1.
StepSpread spread_of(std::span<const std::uint64_t> units, const StepRule& rule);

std::uint64_t batches_of(std::uint64_t units, const StepRule& rule);

}  // namespace muster::blocks
