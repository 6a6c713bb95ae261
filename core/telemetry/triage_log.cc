#include <fmt/core.h>

#include <algorithm>

#include "base/limits.h"
#include "base/timestamp.h"
#include "core/telemetry/triage_state.h"

// What the step log says about a wait at the power floor.

namespace muster {
namespace {

using namespace std::chrono_literals;

// How far two step times, at least half a minute: a log is written late and its clock may be off.
Duration two_steps(const TriageState& s) {
  const double step_s = s.steps.step_seconds.quantile().value_or(0);
  return std::max<Duration>(30s, seconds_to_duration(2 * step_s));
}

std::optional<WallTime> heard_at(const TriageState& s) {
  if (!s.steps.heard_at || !s.newest) return std::nullopt;
  return s.steps.heard_at->near(*s.newest);
}

// Of the newest step, where the times of the log can be used.
std::optional<WallTime> last_step_at(const TriageState& s, const Wait& w) {
  if (log_clock(s, w) != LogClock::fits) return std::nullopt;
  return newest_step_at(s);
}

// When the run began to start; nothing where the log does not tell.
std::optional<WallTime> start_at(const TriageState& s, const Wait& w) {
  if (!s.steps.starting || !s.steps.start_at || log_clock(s, w) != LogClock::fits) {
    return std::nullopt;
  }
  return s.steps.start_at->near(*s.newest);
}

}  // namespace

LogClock log_clock(const TriageState& s, const Wait& w) {
  const auto heard = heard_at(s);
  if (!heard) return LogClock::fits;
  if (*heard - *s.newest > limits::kClockSkew) return LogClock::ahead;
  // Steps end with the work: a log that ended long before it is not the log of this work.
  const Duration quiet = s.steps.longest_quiet.value_or(Duration{});
  if (w.from - *heard > std::max<Duration>(kUnknownSave, 3 * quiet)) return LogClock::behind;
  return LogClock::fits;
}

std::string log_clock_note(const TriageState& s, const Wait& w) {
  const LogClock clock = log_clock(s, w);
  if (clock == LogClock::fits) return {};
  const WallTime heard = *heard_at(s);
  const bool ahead = clock == LogClock::ahead;
  return fmt::format(
      "the step log ends at {}, {} {}: of another zone, or of another time; its times are not used",
      format_clock(heard), format_duration(ahead ? heard - *s.newest : w.from - heard),
      ahead ? "after the newest sample" : "before the power floor began");
}

std::optional<WallTime> newest_step_at(const TriageState& s) {
  if (!s.steps.last_step_at || !s.newest) return std::nullopt;
  return s.steps.last_step_at->near(*s.newest);
}

bool steps_went_on(const TriageState& s, const Wait& w) {
  const auto last = last_step_at(s, w);
  return last && *last > w.from + std::min<Duration>(two_steps(s), 60s);
}

// Logs that tell a step in a hundred, or rest while they evaluate, are silent in health; and a run
// that is complete, or starts again, has no next step to tell.
bool steps_frozen(const TriageState& s, const Wait& w) {
  if (s.steps.complete() || s.steps.starting) return false;
  const auto last = last_step_at(s, w);
  const Duration quiet = s.steps.longest_quiet.value_or(Duration{});
  return last && w.last - *last > std::max(two_steps(s), quiet);
}

bool is_starting(const TriageState& s, const Wait& w) {
  if (!s.steps.starting) return false;
  if (const auto at = start_at(s, w)) return w.last - *at < kStartUp;
  return s.steps.steps > 0 || !w.after_work;
}

bool may_start_again(const TriageState& s, const Wait& w) {
  if (!w.rest_from) return false;
  // A save by all ranks that the log tells is no restart; last words of a crash come at once.
  const auto heard = heard_at(s);
  const bool went_on = heard && log_clock(s, w) == LogClock::fits && *heard > *w.rest_from + 30s;
  return !went_on || s.steps.starting;
}

// Power alone, without a sign that somebody spins, is rest then, however long.
bool is_over(const TriageState& s, const Wait& w) {
  return s.steps.complete() && (w.shape == Shape::none || w.length() < kStartUp);
}

bool shows_no_save(const TriageState& s, const Wait& w) {
  return w.shape == Shape::rank0_zero && s.steps.seen && !s.steps.saving;
}

bool tells_saves(const TriageState& s) {
  return s.steps.saving || s.steps.longest_save || s.steps.save_quote;
}

Duration still_for(const TriageState& s, const Wait& w) {
  WallTime since = w.from;
  if (steps_went_on(s, w)) since = *last_step_at(s, w);
  if (const auto at = start_at(s, w)) since = std::max(since, *at);
  return std::min(w.last - since, w.length());
}

}  // namespace muster
