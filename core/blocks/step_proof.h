#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/blocks/step_plan.h"

namespace muster::blocks {

// What was computed for every world size that divides a global batch, by asking the plan as ranks
// ask it.
struct StepProof {
  std::vector<std::uint64_t> world_sizes;
  std::uint64_t steps = 0;           // of every rank of every world size
  std::uint64_t dropped_blocks = 0;  // of the epoch, fewer than one global batch
  // H(s) = XXH3-128 of H(s - 1), 16 bytes, and the blocks of step s in order, u64 each; H(-1) is 0.
  // The last one, as hash_text(): two hosts or two runs with the same see the same data.
  std::string order;
  std::uint64_t tried_steps = 0;  // of which every place of every rank was asked for
};

// Holds, for all world sizes W of the shape (its own W is not looked at):
//   - every rank makes the same number of steps, of as many blocks;
//   - over the ranks the blocks of a step are a partition, in one order that does not depend on W;
//   - no block comes twice in an epoch;
//   - a run that goes on from a ResumeState at the first, a middle, the last step and the end of
//   the
//     epoch sees what the unbroken one would have seen; a state of another pack is refused.
// Of epochs beyond kTriedPlaces places of ranks, evenly spaced steps are tried for each W, the
// first and the last among them; all else is of all steps. Errc::internal where anything does not
// hold, Errc::invalid_input where there is no plan. `manifest`: the identity of the pack.
Result<StepProof> prove_steps(const StepShape& shape, std::uint64_t seed, std::uint64_t epoch,
                              std::string_view manifest);

// Where a rank looks: (rank, micro step, slot) -> position in the order of the epoch.
using PlaceOfRank =
    std::function<std::uint64_t(std::uint64_t rank, std::uint64_t micro_step, std::uint64_t slot)>;
// One step of a plan, as all its ranks ask for it by `place`: together they take each position of
// [step G, (step + 1) G) once, in the order micro step, rank, slot, which no W changes.
Status check_places(const StepPlan& plan, std::uint64_t step, const PlaceOfRank& place);

inline constexpr std::uint64_t kTriedPlaces = 1ull << 28;  // a second or two

}  // namespace muster::blocks
