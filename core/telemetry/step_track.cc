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
  // Only a fall of half a day is midnight; a smaller one is another rank's clock.
  if (!to->has_date && d < -kDay / 2) d += kDay;
  if (d < Duration{}) return std::nullopt;
  return d;
}

}  // namespace

WallTime LogTime::near(WallTime reference) const {
  if (has_date) return at;
  const Duration in_day = at.time_since_epoch() % kDay;
  WallTime moment(reference.time_since_epoch() / kDay * kDay + in_day);
  if (moment - reference > std::chrono::hours(1)) moment -= kDay;
  return moment;
}

void StepTrack::note_save(Duration length) {
  longest_save = std::max(longest_save.value_or(Duration{}), length);
}

bool StepTrack::older(const std::optional<LogTime>& at) const {
  return at && last_step_at && at->has_date && last_step_at->has_date && at->at < last_step_at->at;
}

void StepTrack::note_start(const std::optional<LogTime>& at, const Quote& quote) {
  if (older(at)) return;
  starting = true;
  start_at = at;
  start_quote = quote;
}

void StepTrack::hear(const std::optional<LogTime>& at, bool running) {
  if (!at) return;
  const auto quiet = between(heard_at, at);
  if (heard_at && heard_at->has_date == at->has_date && !quiet) return;  // another rank's clock
  if (quiet && running && heard_running_) {
    longest_quiet = std::max(longest_quiet.value_or(Duration{}), *quiet);
  }
  heard_at = at;
  heard_running_ = running;
}

void StepTrack::step(const StepRecord& record) {
  seen = true;
  const std::optional<LogTime> at = time_of(record.at, record.at_has_date);
  hear(at, true);
  if (record.step_s) {
    step_seconds.add(*record.step_s);
  } else if (last_step && record.step > *last_step && !saving && !evaluating) {
    if (const auto d = between(last_step_at, at)) {
      step_seconds.add(duration_to_seconds(*d) / static_cast<double>(record.step - *last_step));
    }
  }
  ++steps;
  saving = evaluating = false;  // a step ends what it stands behind
  if (record.target_step) target_step = record.target_step;
  // Logs of several ranks, or older parts of one, may come in any order: the newest time stands.
  if (older(at)) return;
  starting = false;
  // The last step may be told after the end of the run; two steps are another run.
  if (last_step && record.step != *last_step && ++steps_past_end_ >= 2) finished = false;
  last_step = record.step;
  last_step_line = record.line;
  if (at) last_step_at = at;
}

void StepTrack::event(const ProgressEvent& event) {
  seen = true;
  const std::optional<LogTime> at = time_of(event.at, event.at_has_date);
  hear(at, event.kind != ProgressKind::startup && event.kind != ProgressKind::compile &&
               event.kind != ProgressKind::restarted);
  const Quote quote{std::string(event.text.substr(0, 400)), event.line};
  switch (event.kind) {
    case ProgressKind::save_begin:
      saving = true;
      save_began = at;
      save_quote = quote;
      break;
    case ProgressKind::save_end:
      if (event.duration) {
        note_save(*event.duration);
      } else if (const auto d = between(save_began, at)) {
        note_save(*d);
      }
      saving = false;
      save_began.reset();
      save_quote = quote;
      break;
    case ProgressKind::save_known:
      if (event.duration) note_save(*event.duration);
      if (!save_quote) save_quote = quote;
      break;
    case ProgressKind::eval_begin:
      evaluating = true;
      break;
    case ProgressKind::eval_end:
      evaluating = false;
      break;
    case ProgressKind::compile:
      newest_compile = at;
      compile_quote = quote;
      note_start(at, quote);
      break;
    case ProgressKind::finished:
      finished = true;
      steps_past_end_ = 0;
      break;
    case ProgressKind::restarted:
      finished = saving = evaluating = false;  // of the run before
      note_start(at, quote);
      break;
    case ProgressKind::startup:
      note_start(at, quote);
      break;
    case ProgressKind::error:
      error_quote = quote;
      break;
    case ProgressKind::monitor_stuck:
      monitor_quote = quote;
      break;
    case ProgressKind::epoch_end:
      break;
  }
}

}  // namespace muster
