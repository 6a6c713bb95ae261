#include "core/blocks/step_proof.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/memory_bytes.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/resume_state.h"

namespace muster::blocks {
namespace {

using Numbers = std::vector<std::uint64_t>;

Error broken(std::string text) {
  return make_error(Errc::internal, std::move(text));
}

class Prover {
 public:
  Prover(std::vector<StepPlan> plans, std::uint64_t seed, std::uint64_t epoch,
         std::string_view manifest)
      : plans_(std::move(plans)),
        first_(plans_.front()),
        order_(first_, seed, epoch),
        numbers_(first_.shape().blocks, seed, epoch),
        seed_(seed),
        epoch_(epoch),
        manifest_(manifest) {}

  Result<StepProof> prove() {
    const std::uint64_t places = first_.shape().global_batch * plans_.size();
    const std::uint64_t tries = std::max<std::uint64_t>(2, kTriedPlaces / places);
    every_ = std::max<std::uint64_t>(1, first_.steps() / tries);
    resumed_ = {0, first_.steps() / 2, first_.steps() - 1};
    StepProof out;
    Hash128 chain;
    for (std::uint64_t s = 0; s < first_.steps(); ++s) {
      if (Status listed = list_step(s); !listed) return listed.error();
      if (s % every_ == 0 || s + 1 == first_.steps()) {
        ++out.tried_steps;
        if (Status same = ask_ranks(s); !same) return same.error();
      }
      if (resumed_.contains(s)) {
        if (Status same = resume(s); !same) return same.error();
      }
      chain = link(chain);
    }
    if (Status refused = strangers_are_refused(); !refused) return refused.error();
    for (const StepPlan& plan : plans_) out.world_sizes.push_back(plan.shape().world_size);
    out.steps = first_.steps();
    out.dropped_blocks = first_.dropped_blocks();
    out.order = hash_text(chain);
    return out;
  }

 private:
  // The blocks of a step by their places in the order. A permutation that can be inverted
  // everywhere gives no block twice.
  Status list_step(std::uint64_t step) {
    const std::uint64_t batch = first_.shape().global_batch;
    list_.clear();
    for (std::uint64_t p = step * batch; p < (step + 1) * batch; ++p) {
      const std::uint64_t block = order_.at(p);
      if (p < numbers_.blocks() && numbers_.position_of(block) != p) {
        return broken(fmt::format("block {} comes twice in an epoch", block));
      }
      list_.push_back(block);
    }
    return {};
  }

  Hash128 link(const Hash128& before) const {
    RunningHash hash;
    const std::uint64_t halves[] = {before.high, before.low};
    hash.add(memory_bytes(std::span<const std::uint64_t>(halves)));
    hash.add(memory_bytes(std::span<const std::uint64_t>(list_)));
    return hash.value();
  }

  // Each rank of each world size asks for its blocks of the step; together they are the list.
  Status ask_ranks(std::uint64_t step) {
    for (const StepPlan& plan : plans_) {
      const StepShape& shape = plan.shape();
      if (plan.steps() != first_.steps() ||
          plan.blocks_of_rank() * shape.world_size != plan.steps() * shape.global_batch) {
        return broken(fmt::format("{} ranks: not all make the same steps", shape.world_size));
      }
      Status fine =
          check_places(plan, step, [&](std::uint64_t r, std::uint64_t j, std::uint64_t i) {
            return plan.position(step, r, j, i);
          });
      if (!fine) return fine;
    }
    return {};
  }

  // Only the state is carried over; plan and order are made anew, of another world size.
  Status resume(std::uint64_t step) {
    const std::uint64_t batch = first_.shape().global_batch;
    const auto state = decode_resume_state(
        encode_resume_state({std::string(manifest_), seed_, epoch_, step, batch}));
    if (!state) return state.error();
    const auto plan = StepPlan::make(plans_.back().shape());
    if (!plan) return plan.error();
    Status allowed = check_resume(*state, manifest_, batch, plan->steps());
    if (!allowed) return allowed;
    const EpochBlocks order(*plan, state->seed, state->epoch);
    for (std::uint64_t place = 0; place < batch; ++place) {
      if (order.at(state->step * batch + place) != list_[place]) {
        return broken(fmt::format("step {} is another after a restart", step));
      }
    }
    return {};
  }

  Status strangers_are_refused() const {
    const std::uint64_t batch = first_.shape().global_batch, steps = first_.steps();
    const ResumeState end{std::string(manifest_), seed_, epoch_, steps, batch};
    ResumeState other = end, beyond = end, batches = end;
    other.manifest = hash_text(hash_bytes(manifest_));
    ++beyond.step;
    ++batches.global_batch;
    if (!check_resume(end, manifest_, batch, steps)) return broken("the end is no state");
    for (const ResumeState& state : {other, beyond, batches}) {
      if (check_resume(state, manifest_, batch, steps)) return broken("a stranger may resume");
    }
    return {};
  }

  std::vector<StepPlan> plans_;
  const StepPlan& first_;
  EpochBlocks order_;
  BlockOrder numbers_;
  std::uint64_t seed_, epoch_;
  std::string_view manifest_;
  std::uint64_t every_ = 1;
  std::set<std::uint64_t> resumed_;
  Numbers list_;
};

}  // namespace

Status check_places(const StepPlan& plan, std::uint64_t step, const PlaceOfRank& place) {
  const StepShape& shape = plan.shape();
  const std::uint64_t start = step * shape.global_batch;
  std::vector<bool> seen(shape.global_batch, false);
  for (std::uint64_t rank = 0; rank < shape.world_size; ++rank) {
    for (std::uint64_t j = 0; j < plan.accumulation(); ++j) {
      for (std::uint64_t i = 0; i < shape.micro_batch; ++i) {
        const std::uint64_t at = place(rank, j, i);
        const std::uint64_t expected = (j * shape.world_size + rank) * shape.micro_batch + i;
        if (at < start || at - start != expected || seen[expected]) {
          return broken(fmt::format("{} ranks, step {}, rank {}: not the order of the others",
                                    shape.world_size, step, rank));
        }
        seen[expected] = true;
      }
    }
  }
  if (std::find(seen.begin(), seen.end(), false) != seen.end()) {
    return broken(fmt::format("{} ranks, step {}: a block is nobody's", shape.world_size, step));
  }
  return {};
}

Result<StepProof> prove_steps(const StepShape& shape, std::uint64_t seed, std::uint64_t epoch,
                              std::string_view manifest) {
  StepShape one = shape;
  one.world_size = 1;
  const auto alone = StepPlan::make(one);
  if (!alone) return alone.error();
  std::vector<StepPlan> plans;
  for (const std::uint64_t w : valid_world_sizes(shape.global_batch, shape.micro_batch)) {
    one.world_size = w;
    const auto plan = StepPlan::make(one);
    if (!plan) return broken(plan.error().context);
    plans.push_back(*plan);
  }
  return Prover(std::move(plans), seed, epoch, manifest).prove();
}

}  // namespace muster::blocks
