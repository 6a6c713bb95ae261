#include "core/progress/step_summary.h"

#include <algorithm>
#include <cmath>

#include "base/limits.h"

namespace muster {
namespace {

// Classes of step time: 2 % wide from 10 us to 10^6 s, so the middle of a class is off by 1 %.
constexpr double kShortestS = 1e-5;
constexpr double kLongestS = 1e6;
constexpr double kClassRatio = 1.02;
constexpr std::size_t kMaxKnownSaves = 64;
constexpr Duration kHalfDay = std::chrono::hours(12);
constexpr Duration kDay = std::chrono::hours(24);

std::size_t class_of(double seconds) {
  static const double kPerClass = 1 / std::log(kClassRatio);
  return static_cast<std::size_t>(std::log(seconds / kShortestS) * kPerClass);
}

SeenLine seen(const ProgressEvent& event) {
  return {event.at,   event.at_has_zone, event.at_has_date,
          event.step, event.duration,    std::string(event.text.substr(0, limits::kEvidenceChars)),
          event.line};
}

SeenLine seen(const StepRecord& record) {
  return {record.at, record.at_has_zone, record.at_has_date, record.step, {}, {}, record.line};
}

// From `a` to `b`, if both can be compared and `b` is not earlier.
std::optional<Duration> elapsed(std::optional<WallTime> a, bool a_has_date,
                                std::optional<WallTime> b, bool b_has_date) {
  if (!a || !b || a_has_date != b_has_date) return std::nullopt;
  Duration d = *b - *a;
  if (!a_has_date && d < -kHalfDay) d += kDay;
  if (d < Duration::zero()) return std::nullopt;
  return d;
}

// What an earlier line of the same step told and this one does not.
template <typename T>
void keep(std::optional<T>& now, const std::optional<T>& before) {
  if (!now) now = before;
}

void complete_from(StepRecord& record, const StepRecord& before) {
  keep(record.target_step, before.target_step);
  if (!record.at) {
    record.at = before.at;
    record.at_has_zone = before.at_has_zone;
    record.at_has_date = before.at_has_date;
  }
  keep(record.loss, before.loss);
  keep(record.grad_norm, before.grad_norm);
  keep(record.learning_rate, before.learning_rate);
  keep(record.tokens_per_s, before.tokens_per_s);
  keep(record.step_s, before.step_s);
  keep(record.mfu_ratio, before.mfu_ratio);
  keep(record.rank, before.rank);
}

}  // namespace

void StepSummary::step(const StepRecord& record) {
  StepRecord now = record;
  const bool same = last_ && last_->step == record.step;
  if (same) {
    complete_from(now, *last_);
  } else {
    ++steps_;
    add_step_time(record);
    if (open_save_ && record.step > open_save_->step.value_or(last_ ? last_->step : -1)) {
      close_save(seen(record));
    }
    if (!last_ || record.step > last_->step) open_eval_.reset();
  }
  if (record.target_step) target_ = record.target_step;
  if (record.at) last_stamped_ = seen(record);
  if (!first_) first_ = now;
  last_ = now;
}

void StepSummary::event(const ProgressEvent& event) {
  ++events_;
  const SeenLine line = seen(event);
  if (event.at) last_stamped_ = line;
  Slot& mine = slot(event.kind);
  mine.last = line;
  ++mine.count;
  switch (event.kind) {
    case ProgressKind::save_begin:
      open_save_ = line;
      break;
    case ProgressKind::save_end:
      close_save(line);
      break;
    case ProgressKind::save_known:
      if (event.duration) offer_save(*event.duration);
      if (known_saves_.size() == kMaxKnownSaves) known_saves_.erase(known_saves_.begin());
      known_saves_.push_back(line);
      break;
    case ProgressKind::eval_begin:
      if (!open_eval_) open_eval_ = line;  // the progress of an evaluation does not begin it anew
      break;
    case ProgressKind::eval_end:
      open_eval_.reset();
      break;
    case ProgressKind::restarted:
    case ProgressKind::finished:
      open_save_.reset();
      open_eval_.reset();
      break;
    default:
      break;
  }
}

bool StepSummary::complete() const {
  if (last_ && target_ && last_->step >= *target_) return true;
  const auto& finished = last(ProgressKind::finished);
  if (!finished) return false;
  const auto& restarted = last(ProgressKind::restarted);
  return (!last_ || finished->line >= last_->line) &&
         (!restarted || finished->line >= restarted->line);
}

void StepSummary::close_save(const SeenLine& end) {
  std::optional<Duration> took = end.duration;
  // The step line that follows a save ends it too, a step late at most.
  if (!took && open_save_) {
    took = elapsed(open_save_->at, open_save_->at_has_date, end.at, end.at_has_date);
  }
  open_save_.reset();
  if (took) offer_save(*took);
}

void StepSummary::offer_save(Duration duration) {
  if (!longest_save_ || duration > *longest_save_) longest_save_ = duration;
}

void StepSummary::add_step_time(const StepRecord& record) {
  double seconds = record.step_s.value_or(0);
  if (!record.step_s) {
    if (!last_ || record.step <= last_->step) return;
    const auto gap = elapsed(last_->at, last_->at_has_date, record.at, record.at_has_date);
    if (!gap) return;
    seconds = duration_to_seconds(*gap) / static_cast<double>(record.step - last_->step);
  }
  if (!(seconds >= kShortestS && seconds < kLongestS)) return;
  if (step_times_.empty()) step_times_.resize(class_of(kLongestS) + 1);
  ++step_times_[class_of(seconds)];
  ++step_time_count_;
}

std::optional<double> StepSummary::median_step_s() const {
  if (step_time_count_ < 2) return std::nullopt;
  const std::uint64_t middle = (step_time_count_ + 1) / 2;  // the lower of two middle values
  std::uint64_t so_far = 0;
  std::size_t at = 0;
  while (so_far + step_times_[at] < middle) so_far += step_times_[at++];
  return kShortestS * std::pow(kClassRatio, static_cast<double>(at) + 0.5);
}

}  // namespace muster
