#include "core/telemetry/step_track.h"

#include <algorithm>
#include <chrono>

namespace muster {
namespace {

constexpr Duration kDay = std::chrono::hours(24);

std::optional<LogTime> time_of(const std::optional<WallTime>& at, bool has_date) {
  if (!at) return std::nullopt;
  return LogTime{*at, has_date};
}

// From one log line to a later one; a bare clock may have passed midnight between.
std::optional<Duration> between(const std::optional<LogTime>& from,
                                const std::optional<LogTime>& to) {
  if (!from || !to || from->has_date != to->has_date) return std::nullopt;
  Duration d = to->at - from->at;
  if (!to->has_date && d < Duration{}) d += kDay;
  if (d < Duration{}) return std::nullopt;
  return d;
}

}  // namespace

WallTime LogTime::near(WallTime reference) const {
  if (has_date) return at;
  const Duration in_day = at.time_since_epoch() % kDay;
  WallTime moment(reference.time_since_epoch() / kDay * kDay + in_day);
  if (moment - reference > kDay / 2) moment -= kDay;
  if (reference - moment > kDay / 2) moment += kDay;
  return moment;
}

void StepTrack::note_save(Duration length) {
  longest_save = std::max(longest_save.value_or(Duration{}), length);
}

void StepTrack::step(const StepRecord& record) {
  seen = true;
  const std::optional<LogTime> at = time_of(record.at, record.at_has_date);
  if (record.step_s) {
    step_seconds.add(*record.step_s);
  } else if (last_step && record.step > *last_step && !open_save && !open_eval) {
    if (const auto d = between(last_step_at, at)) {
      step_seconds.add(duration_to_seconds(*d) / static_cast<double>(record.step - *last_step));
    }
  }
  ++steps;
  last_step = record.step;
  last_step_line = record.line;
  if (at) last_step_at = at;
  if (record.target_step) target_step = record.target_step;
  open_save.reset();  // a step ends what it stands behind
  open_eval.reset();
}

void StepTrack::event(const ProgressEvent& event) {
  seen = true;
  const std::optional<LogTime> at = time_of(event.at, event.at_has_date);
  const Quote quote{std::string(event.text.substr(0, 400)), event.line};
  switch (event.kind) {
    case ProgressKind::save_begin:
      open_save = at.value_or(LogTime{});
      save_quote = quote;
      break;
    case ProgressKind::save_end:
      if (event.duration) {
        note_save(*event.duration);
      } else if (const auto d = between(open_save, at)) {
        note_save(*d);
      }
      open_save.reset();
      save_quote = quote;
      break;
    case ProgressKind::save_known:
      if (event.duration) note_save(*event.duration);
      if (!save_quote) save_quote = quote;
      break;
    case ProgressKind::eval_begin: open_eval = at.value_or(LogTime{}); break;
    case ProgressKind::eval_end: open_eval.reset(); break;
    case ProgressKind::compile:
      newest_compile = at.value_or(LogTime{});
      compile_quote = quote;
      break;
    case ProgressKind::startup: newest_startup = at.value_or(LogTime{}); break;
    case ProgressKind::finished: finished = true; break;
    case ProgressKind::restarted: finished = false; break;
    case ProgressKind::error: error_quote = quote; break;
    case ProgressKind::monitor_stuck: monitor_quote = quote; break;
    case ProgressKind::epoch_end: break;
  }
}

}  // namespace muster
