#include "core/blocks/step_plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"

namespace muster::blocks {
namespace {

// "1, 2, 4, ... 64": all that fit in a sentence.
std::string world_sizes_text(const std::vector<std::uint64_t>& sizes) {
  constexpr std::size_t kNamed = 24;  // divisors; more are rare and no help
  std::string out;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes.size() > kNamed && i == kNamed - 1) {
      return out + fmt::format(", ... {}", sizes.back());
    }
    out += fmt::format("{}{}", i == 0 ? "" : ", ", sizes[i]);
  }
  return out;
}

Error refuse(std::string text) {
  return make_error(Errc::invalid_input, std::move(text));
}

}  // namespace

std::vector<std::uint64_t> valid_world_sizes(std::uint64_t global_batch,
                                             std::uint64_t micro_batch) {
  MUSTER_CHECK(global_batch >= 1 && global_batch <= limits::kPackGlobalBatch && micro_batch >= 1,
               "bounded by who asks");
  std::vector<std::uint64_t> low, high;
  if (global_batch % micro_batch != 0) return low;
  const std::uint64_t micro_batches = global_batch / micro_batch;
  for (std::uint64_t d = 1; d * d <= micro_batches; ++d) {
    if (micro_batches % d != 0) continue;
    low.push_back(d);
    if (d * d != micro_batches) high.push_back(micro_batches / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

Result<StepPlan> StepPlan::make(const StepShape& shape) {
  if (shape.blocks == 0) return refuse("the pack has no block: there is nothing to train on");
  if (shape.blocks > limits::kPackBlocks) {
    return refuse(fmt::format("{} blocks are more than {}", shape.blocks, limits::kPackBlocks));
  }
  if (shape.global_batch == 0 || shape.micro_batch == 0 || shape.world_size == 0) {
    return refuse("global batch, micro batch and world size are numbers from 1 on");
  }
  if (shape.global_batch > limits::kPackGlobalBatch) {
    return refuse(fmt::format("a global batch of {} blocks is more than {}", shape.global_batch,
                              limits::kPackGlobalBatch));
  }
  const auto sizes = valid_world_sizes(shape.global_batch, shape.micro_batch);
  if (sizes.empty()) {
    return refuse(fmt::format("micro batches of {} do not divide a global batch of {} blocks",
                              shape.micro_batch, shape.global_batch));
  }
  if (!std::binary_search(sizes.begin(), sizes.end(), shape.world_size)) {
    return refuse(fmt::format(
        "{} ranks with micro batches of {} do not divide a global batch of {} blocks; these world "
        "sizes do: {}",
        shape.world_size, shape.micro_batch, shape.global_batch, world_sizes_text(sizes)));
  }
  if (shape.blocks < shape.global_batch) {
    return refuse(fmt::format(
        "{} blocks are fewer than one global batch of {}: no step could be made, and the run would "
        "end at once as if all were done",
        shape.blocks, shape.global_batch));
  }
  return StepPlan(shape);
}

StepPlan::StepPlan(const StepShape& shape)
    : shape_(shape),
      steps_(shape.blocks / shape.global_batch),
      accumulation_(shape.global_batch / (shape.micro_batch * shape.world_size)) {
  const bool rest = shape.blocks % shape.global_batch != 0;
  if (rest && shape.remainder == Remainder::fill) ++steps_;
}

std::uint64_t StepPlan::blocks_of_rank() const {
  return steps_ * accumulation_ * shape_.micro_batch;
}

std::uint64_t StepPlan::dropped_blocks() const {
  return shape_.remainder == Remainder::drop ? shape_.blocks - steps_ * shape_.global_batch : 0;
}

std::uint64_t StepPlan::repeated_blocks() const {
  return shape_.remainder == Remainder::fill ? steps_ * shape_.global_batch - shape_.blocks : 0;
}

std::uint64_t StepPlan::position(std::uint64_t step, std::uint64_t rank, std::uint64_t micro_step,
                                 std::uint64_t slot) const {
  MUSTER_CHECK(step < steps_ && rank < shape_.world_size && micro_step < accumulation_ &&
                   slot < shape_.micro_batch,
               "a place of the plan");
  return step * shape_.global_batch + (micro_step * shape_.world_size + rank) * shape_.micro_batch +
         slot;
}

EpochBlocks::EpochBlocks(const StepPlan& plan, std::uint64_t seed, std::uint64_t epoch)
    : order_(plan.shape().blocks, seed, epoch), next_(plan.shape().blocks, seed, epoch + 1) {}

std::uint64_t EpochBlocks::at(std::uint64_t position) const {
  return position < order_.blocks() ? order_.at(position) : next_.at(position - order_.blocks());
}

}  // namespace muster::blocks
