#include "train/run/train_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "edge/os/clock.h"
#include "train/run/stop_request.h"

namespace muster::train {
namespace {

constexpr Tag kLossTag = {Purpose::loss, 0}, kSaveTag = {Purpose::save, 0};
constexpr Tag kEndTag = {Purpose::end, 0};

double seconds_since(MonoTime begin) {
  return duration_to_seconds(system_clock().mono() - begin);
}

double at(const PhaseSeconds& seconds, Phase phase) {
  return seconds[static_cast<std::size_t>(phase)];
}

std::optional<double> finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

// The engine's phases as time spent in each, and as the sign of life.
class TrainLoop::Phases final : public StepObserver {
 public:
  explicit Phases(TrainLoop& loop) : loop_(loop) {}

  void begin_step() {
    seconds_ = {};
    start(Phase::data, RankPhase::data);
  }
  void enter(StepPhase phase) override {
    switch (phase) {
      case StepPhase::forward:
        return start(Phase::forward, RankPhase::forward);
      case StepPhase::gather_wait:
        return start(Phase::gather_wait, shown_);  // of forward or of backward
      case StepPhase::backward:
        return start(Phase::backward, RankPhase::backward);
      case StepPhase::reduce_wait:
        return start(Phase::reduce_wait, shown_);
      case StepPhase::optimizer:
        return start(Phase::optimizer, RankPhase::optimizer);
    }
  }
  const PhaseSeconds& end_step() {
    close();
    return seconds_;
  }

 private:
  void close() {
    const MonoTime now = system_clock().mono();
    seconds_[static_cast<std::size_t>(phase_)] += duration_to_seconds(now - since_);
    since_ = now;
  }
  void start(Phase phase, RankPhase shown) {
    if (phase == Phase::data) {
      since_ = system_clock().mono();
    } else {
      close();
    }
    phase_ = phase;
    if (shown != shown_) loop_.enter(shown);
    shown_ = shown;
  }

  TrainLoop& loop_;
  PhaseSeconds seconds_{};
  Phase phase_ = Phase::data;
  RankPhase shown_ = RankPhase::init;
  MonoTime since_{};
};

TrainLoop::TrainLoop(const LoopParts& parts, const LoopPlan& plan) : parts_(parts), plan_(plan) {}

void TrainLoop::enter(RankPhase phase) {
  parts_.heartbeat->set_phase(phase);
  parts_.recorder->set_phase(phase);
}

Result<StepResult> TrainLoop::step(const RunCursor& cursor, Phases& phases) {
  phases.begin_step();
  parts_.world->set_step(cursor.step);
  const std::uint64_t epoch_steps = plan_.saves.epoch_steps;
  const Status read =
      parts_.data->read(cursor.step / epoch_steps, cursor.step % epoch_steps, blocks_);
  if (!read) {
    where_ = Where::data;
    parts_.world->abort(read.error().context);
    return read.error();
  }
  const std::vector<MicroBatch> batches = blocks_.micro_batches();
  StepInput input;
  input.step = cursor.step;
  input.update = cursor.step - cursor.skipped + 1;
  input.learning_rate = plan_.rate.rate(cursor.step);
  input.labels = blocks_.labels;
  input.micro_batches = batches;
  return parts_.engine->step(input, phases);
}

// One sum: each rank fills its own places, so everybody gets what each said.
Result<TrainLoop::Agreed> TrainLoop::agree(const PhaseSeconds& own, double step_s) {
  constexpr std::size_t kShared = 2, kOfRank = kPhases + 1;
  const auto world = static_cast<std::size_t>(parts_.world->world());
  const auto rank = static_cast<std::size_t>(parts_.world->rank());
  std::vector<double> all(kShared + world * kOfRank);
  all[0] = stop_requested() ? 1 : 0;
  all[1] = parts_.store->saving() ? 1 : 0;
  std::copy(own.begin(), own.end(),
            all.begin() + static_cast<std::ptrdiff_t>(kShared + rank * kOfRank));
  all[kShared + rank * kOfRank + kPhases] = step_s;
  const Ticket ticket = parts_.world->all_reduce(reinterpret_cast<std::byte*>(all.data()),
                                                 all.size(), Dtype::f64, kLossTag);
  if (const Status summed = parts_.world->wait(ticket); !summed) return summed.error();
  Agreed agreed;
  agreed.stop = all[0] > 0;
  agreed.saving = all[1] > 0;
  for (std::size_t r = 0; r < world; ++r) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(kShared + r * kOfRank);
    PhaseSeconds& seconds = agreed.ranks.emplace_back();
    std::copy(begin, begin + kPhases, seconds.begin());
    agreed.step_s = std::max(agreed.step_s, *(begin + kPhases));
  }
  return agreed;
}

void TrainLoop::tell(const RunCursor& cursor, const StepResult& result, const Agreed& agreed) {
  StepReport report;
  report.step = cursor.step;
  report.target_step = plan_.saves.target_step;
  report.at = system_clock().wall();
  report.loss = finite(result.loss);
  report.grad_norm = finite(result.norm);
  report.learning_rate = plan_.rate.rate(cursor.step - 1);
  report.step_tokens = plan_.step_tokens;
  report.tokens = cursor.tokens;
  report.ranks = agreed.ranks.size();
  report.step_s = agreed.step_s;
  for (const PhaseSeconds& rank : agreed.ranks) {
    report.data_s = std::max(report.data_s, at(rank, Phase::data));
  }
  const PhaseSeconds& own = agreed.ranks[static_cast<std::size_t>(parts_.world->rank())];
  report.wait_s = at(own, Phase::gather_wait) + at(own, Phase::reduce_wait);
  if (result.outcome == StepOutcome::not_finite) report.skipped = StepReport::Skipped::not_finite;
  if (result.outcome == StepOutcome::no_labels) report.skipped = StepReport::Skipped::no_labels;
  if (const auto rate = report.tokens_per_s(); rate && plan_.peak_flops) {
    report.mfu =
        *rate * plan_.flops_per_token / (*plan_.peak_flops * static_cast<double>(report.ranks));
  }
  parts_.output->step(report);
  parts_.heartbeat->step_done(static_cast<std::int64_t>(cursor.step),
                              static_cast<std::int64_t>(cursor.tokens), report.loss);
  if (const auto slow = slow_.judge(cursor.step, agreed.step_s, agreed.ranks)) {
    parts_.output->say(*slow);
  }
}

// Ranks that hold a copy of what others save write nothing; they learn how it went.
Status TrainLoop::alike(const Status& own) {
  const auto worst = parts_.world->max(own ? 0 : 1, kSaveTag);
  if (!worst) return worst.error();
  if (*worst == 0) return {};
  where_ = Where::save;
  return own ? Status(make_error(Errc::exhausted, "the checkpoint could not be written")) : own;
}

Status TrainLoop::save(const RunCursor& cursor) {
  enter(RankPhase::save);
  if (const Status together = parts_.world->barrier(kSaveTag); !together) return together;
  if (const Status before = finish_saves(); !before) return before;
  parts_.output->event({"save_begin", system_clock().wall(), cursor.step, {}, "checkpoints"});
  save_began_ = system_clock().mono();
  saved_step_ = cursor.step;
  return alike(parts_.saves ? parts_.store->save(*parts_.state, cursor) : Status());
}

Status TrainLoop::finish_saves() {
  if (!save_began_) return {};
  const Status finished = alike(parts_.saves ? parts_.store->finish() : Status());
  parts_.output->warn(parts_.store->take_warnings());
  if (!finished) return finished;
  parts_.output->event(
      {"save_end", system_clock().wall(), saved_step_, seconds_since(*save_began_), ""});
  save_began_ = std::nullopt;
  return {};
}

Result<ExitStatus> TrainLoop::run(RunCursor& cursor) {
  Phases phases(*this);
  std::uint64_t skips = 0;
  // Asked to leave while it still loaded: all is saved as it stands.
  const auto asked = parts_.world->max(stop_requested() ? 1 : 0, kSaveTag);
  if (!asked) return asked.error();
  bool stop = *asked != 0;
  while (cursor.step < plan_.saves.target_step && !stop && skips < plan_.most_skips) {
    const MonoTime begin = system_clock().mono();
    const auto result = step(cursor, phases);
    if (!result) return result.error();
    const auto agreed = agree(phases.end_step(), seconds_since(begin));
    if (!agreed) return agreed.error();
    ++cursor.step;
    cursor.tokens += plan_.step_tokens;
    if (result->outcome != StepOutcome::updated) ++cursor.skipped;
    skips = result->outcome == StepOutcome::not_finite ? skips + 1 : 0;
    tell(cursor, *result, *agreed);
    stop = agreed->stop;
    if (save_began_ && !agreed->saving) {
      if (const Status finished = finish_saves(); !finished) return finished.error();
    }
    if (!plan_.saves.saves_after(cursor.step) && !stop) continue;
    if (const Status saved = save(cursor); !saved) return saved.error();
  }
  if (const Status finished = finish_saves(); !finished) return finished.error();
  if (const Status together = parts_.world->barrier(kEndTag); !together) return together.error();
  enter(RankPhase::done);
  if (skips >= plan_.most_skips) return ExitStatus::do_not_restart;
  return cursor.step < plan_.saves.target_step ? ExitStatus::saved : ExitStatus::ok;
}

}  // namespace muster::train
