#include "train/fsdp/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "train/fsdp/unit_use.h"
#include "train/optim/global_norm.h"

namespace muster::train {
namespace {

std::vector<AlignedBytes> memory_of_slices(const ShardedState& state, Dtype dtype) {
  std::vector<AlignedBytes> out;
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    out.emplace_back(state.plan->slice(unit, state.shards) * dtype_bytes(dtype));
  }
  return out;
}

std::uint64_t bytes_of(const std::vector<AlignedBytes>& memory) {
  std::uint64_t out = 0;
  for (const AlignedBytes& part : memory) out += part.size();
  return out;
}

// Tokens that count as somebody's next one: the first of a block is nobody's.
std::uint64_t labels_of(const MicroBatch& batch) {
  std::uint64_t out = 0;
  for (std::uint64_t sequence = 0; sequence < batch.sequences; ++sequence) {
    const auto row = batch.counted.subspan(sequence * batch.length, batch.length);
    for (const std::uint8_t counted : row.subspan(1)) out += counted != 0 ? 1 : 0;
  }
  return out;
}

EngineRanks checked(EngineRanks ranks) {
  MUSTER_CHECK(ranks.world != nullptr && ranks.shards != nullptr, "somebody computes");
  MUSTER_CHECK(ranks.shards->world() * (ranks.replicas ? ranks.replicas->world() : 1) ==
                   ranks.world->world(),
               "every rank holds one slice of one replica");
  return ranks;
}

}  // namespace

// ---- start -------------------------------------------------------------------------------------

Engine::Engine(ModelMath& math, ShardedState& state, const EngineRanks& ranks,
               const EngineOptions& options)
    : math_(math),
      state_(state),
      ranks_(checked(ranks)),
      options_(options),
      runs_(runs_of_slices()),
      sums_(memory_of_slices(state, state.dtype)),
      copies_(math.compute() == Dtype::bf16 ? memory_of_slices(state, Dtype::bf16)
                                            : std::vector<AlignedBytes>()),
      window_(math.plan(), math.compute(), slices_to_gather(), *ranks.shards, options.prefetch),
      staging_(math.plan(), options.wire.value_or(state.dtype), sums_, *ranks.shards) {
  MUSTER_CHECK(state.dtype == sum_dtype(math.compute()), "state of the type of sums");
  MUSTER_CHECK(sum_dtype(options.wire.value_or(state.dtype)) == state.dtype,
               "gradients go as their sums, or rounded to bf16");
  MUSTER_CHECK(static_cast<int>(state.shard) == ranks.shards->rank() &&
                   static_cast<int>(state.shards) == ranks.shards->world(),
               "the state is this rank's slice");
}

Engine::~Engine() {
  window_.drain();
  staging_.drain();
}

// Tensors that lie side by side and are treated alike are one run; padding is in none.
std::vector<Engine::Run> Engine::runs_of_slices() const {
  std::vector<Run> out;
  const UnitPlan& plan = math_.plan();
  for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
    const std::uint64_t slice = plan.slice(unit, state_.shards);
    const std::uint64_t from = slice * state_.shard, to = from + slice;
    for (const TensorSpec& tensor : plan.units()[unit].tensors) {
      const std::uint64_t begin = std::max(tensor.offset, from);
      const std::uint64_t end = std::min(tensor.offset + tensor.elements(), to);
      if (begin >= end) continue;
      const Run run{unit, begin - from, end - begin, tensor.decays};
      const bool joins = !out.empty() && out.back().unit == unit &&
                         out.back().decays == run.decays &&
                         out.back().begin + out.back().elements == run.begin;
      if (joins) {
        out.back().elements += run.elements;
      } else {
        out.push_back(run);
      }
    }
  }
  return out;
}

std::vector<const std::byte*> Engine::slices_to_gather() const {
  std::vector<const std::byte*> out;
  for (std::size_t unit = 0; unit < state_.units.size(); ++unit) {
    out.push_back(copies_.empty() ? state_.units[unit].master.data() : copies_[unit].data());
  }
  return out;
}

void Engine::weights_changed() {
  for (std::size_t unit = 0; unit < copies_.size(); ++unit) {
    round_to_bf16(state_.dtype, state_.units[unit].master.data(), copies_[unit].data(),
                  math_.plan().slice(unit, state_.shards));
  }
  window_.forget();
}

EngineMemory Engine::memory() const {
  return {bytes_of(sums_), bytes_of(copies_), window_.bytes(), staging_.bytes()};
}

EngineTraffic Engine::traffic() const {
  return {window_.gathers(), staging_.reductions(), window_.peak()};
}

// ---- a step ------------------------------------------------------------------------------------

Result<StepResult> Engine::step(const StepInput& input, StepObserver& observer) {
  MUSTER_CHECK(!input.micro_batches.empty(), "a step has a micro batch");
  for (Communicator* ranks : {ranks_.world, ranks_.shards, ranks_.replicas}) {
    if (ranks != nullptr) ranks->set_step(input.step);
  }
  Totals totals;
  const Status computed = compute(input, observer, totals);
  if (!computed) return give_up(computed.error());
  Result<StepResult> result = end_step(input, observer, totals);
  if (!result) return give_up(result.error());
  return result;
}

Status Engine::compute(const StepInput& input, StepObserver& observer, Totals& totals) {
  for (const MicroBatch& batch : input.micro_batches) totals.labels += labels_of(batch);
  if (input.labels == 0) return {};
  const double scale = 1 / static_cast<double>(input.labels);
  for (const MicroBatch& batch : input.micro_batches) {
    observer.enter(StepPhase::forward);
    Status done = math_.begin(batch, scale);
    if (done) done = forward(observer);
    if (done) done = backward(observer);
    if (!done) return done;
    totals.loss_sum += math_.loss_sum();
  }
  observer.enter(StepPhase::reduce_wait);
  return staging_.finish();
}

Status Engine::forward(StepObserver& observer) {
  const std::vector<Stage>& stages = math_.plan().stages();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    observer.enter(StepPhase::gather_wait);
    const auto weights = window_.wait(stages[stage].unit);
    if (!weights) return weights.error();
    const std::size_t last = std::min(stages.size() - 1, stage + options_.prefetch);
    for (std::size_t next = stage + 1; next <= last; ++next) window_.start(stages[next].unit);
    observer.enter(StepPhase::forward);
    math_.forward(stage, *weights);
  }
  return {};
}

Status Engine::backward(StepObserver& observer) {
  const std::vector<Stage>& stages = math_.plan().stages();
  const std::vector<UnitUse> uses = unit_uses(math_.plan());
  for (std::size_t stage = stages.size(); stage-- > 0;) {
    const std::size_t unit = stages[stage].unit;
    observer.enter(StepPhase::gather_wait);
    const auto weights = window_.wait(unit);
    if (!weights) return weights.error();
    // Before the sum of this stage's gradients is queued: calls run in their order, and the next
    // stage needs its weights sooner than anybody needs the sum.
    const std::size_t ahead = std::min(stage, options_.prefetch);
    for (std::size_t k = 1; k <= ahead; ++k) window_.start(stages[stage - k].unit);
    observer.enter(StepPhase::reduce_wait);
    const auto gradients = staging_.begin(unit);
    if (!gradients) return gradients.error();
    observer.enter(StepPhase::backward);
    math_.backward(stage, *weights, *gradients);
    if (uses[unit].first_stage == stage) staging_.reduce(unit);
  }
  return {};
}

// ---- the end of a step -------------------------------------------------------------------------

// The sums over ranks decide everything, so every rank decides the same.
Result<StepResult> Engine::end_step(const StepInput& input, StepObserver& observer,
                                    const Totals& totals) {
  const auto labels = static_cast<double>(input.labels), step = static_cast<double>(input.step);
  std::array<double, 4> sums{totals.loss_sum, static_cast<double>(totals.labels), labels, step};
  observer.enter(StepPhase::reduce_wait);
  const Ticket ticket = ranks_.world->all_reduce(reinterpret_cast<std::byte*>(sums.data()),
                                                 sums.size(), Dtype::f64, {Purpose::loss, 0});
  Result<double> length = 0.0;
  if (input.labels != 0) {
    const Status summed = sum_replicas();
    length = summed ? norm() : Result<double>(summed.error());
  }
  const Status came = ranks_.world->wait(ticket);
  if (!length) return length.error();
  if (!came) return came.error();
  const auto world = static_cast<double>(ranks_.world->world());
  if (sums[3] != step * world || sums[2] != labels * world) {
    return make_error(Errc::invalid_input,
                      fmt::format("ranks do not agree on the step: this one is at step {} of {} "
                                  "labels, all together at steps that sum up to {} of {} ranks",
                                  input.step, input.labels, sums[3], world));
  }
  if (sums[1] != labels) {
    return make_error(Errc::invalid_input,
                      fmt::format("step {} has {} labels in its plan, and the ranks found {}",
                                  input.step, input.labels, sums[1]));
  }
  if (input.labels == 0) return StepResult{StepOutcome::no_labels, {}, {}};
  StepResult result{StepOutcome::updated, sums[0] / labels, *length};
  observer.enter(StepPhase::optimizer);
  if (!std::isfinite(sums[0]) || !std::isfinite(*length)) {
    result.outcome = StepOutcome::not_finite;
    for (AlignedBytes& sum : sums_) std::memset(sum.data(), 0, sum.size());
    return result;
  }
  update(input, *length);
  return result;
}

Status Engine::sum_replicas() {
  if (ranks_.replicas == nullptr) return {};
  Ticket last = 0;
  for (std::size_t unit = 0; unit < sums_.size(); ++unit) {
    last = ranks_.replicas->all_reduce(sums_[unit].data(), math_.plan().slice(unit, state_.shards),
                                       state_.dtype,
                                       {Purpose::replicas, static_cast<std::uint32_t>(unit)});
  }
  return ranks_.replicas->wait(last);
}

// Replicas have the same bits, so those who hold one copy may sum up alone.
Result<double> Engine::norm() {
  double squares = 0;
  for (const Run& run : runs_) {
    squares += sum_of_squares(
        state_.dtype, sums_[run.unit].data() + run.begin * dtype_bytes(state_.dtype), run.elements);
  }
  const Result<double> all = ranks_.shards->sum(squares, {Purpose::norm, 0});
  if (!all) return all.error();
  return std::sqrt(*all);
}

void Engine::update(const StepInput& input, double norm) {
  const AdamWUpdate how{input.update, input.learning_rate, clip_factor(norm, options_.clip)};
  const std::size_t width = dtype_bytes(state_.dtype);
  for (const Run& run : runs_) {
    UnitShard& shard = state_.units[run.unit];
    const std::size_t at = run.begin * width;
    std::byte* copy =
        copies_.empty() ? nullptr : copies_[run.unit].data() + run.begin * sizeof(std::uint16_t);
    apply(options_.adamw, how,
          {state_.dtype, run.decays, run.elements, shard.master.data() + at,
           shard.first_moment.data() + at, shard.second_moment.data() + at,
           sums_[run.unit].data() + at, copy});
  }
  window_.forget();
}

// ---- giving up ---------------------------------------------------------------------------------

Error Engine::give_up(Error error) {
  for (Communicator* ranks : {ranks_.world, ranks_.shards, ranks_.replicas}) {
    if (ranks != nullptr && !ranks->failure()) ranks->abort(error.context);
  }
  window_.drain();
  staging_.drain();
  return error;
}

}  // namespace muster::train
