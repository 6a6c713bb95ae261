#include <fmt/core.h>

#include <algorithm>

#include "base/timestamp.h"
#include "core/telemetry/triage_state.h"

// A step log that fell silent while the GPUs go on drawing power: kernels that spin, or a long
// piece of work that the log does not tell. Power alone sees a healthy run.

namespace muster {
namespace {

using namespace std::chrono_literals;

// The watchdog of collectives waits as long; shorter heartbeats have killed runs that only loaded
// or evaluated (limits of 2 and of 8 min are on record).
constexpr Duration kPatience = 10min;
// Without a calibration a first evaluation may be all that it is; after this long it is worth a
// look.
constexpr Duration kVeryLong = 20min;
// Evaluations grow with the model and saves with its state: thrice the longest silence known.
constexpr int kTimesKnown = 3;

std::optional<Duration> longest_quiet(const TriageState& s) {
  std::optional<Duration> known;
  for (const auto& quiet : {s.steps.longest_quiet, s.options.calibration.longest_quiet}) {
    if (quiet) known = std::max(known.value_or(Duration{}), *quiet);
  }
  return known;
}

// The log may be silent with good reason, or says nothing about this time.
bool may_be_silent(const StepTrack& log) {
  return log.steps == 0 || !log.heard_at || log.complete() || log.saving || log.evaluating;
}

}  // namespace

void add_silence_findings(const TriageState& s, Report& report) {
  const auto known = longest_quiet(s);
  if (may_be_silent(s.steps) || !known || !s.tick.busy || s.waits.open()) return;
  const Duration limit = std::max<Duration>(kPatience, kTimesKnown * *known);
  const WallTime heard = s.steps.heard_at->near(*s.newest);
  // A log of another time (or of another zone) does not speak of this telemetry.
  const Duration silent = s.tick_at - heard - s.waits.unseen_since(heard);
  if (silent < limit || heard + limit < *s.oldest) return;
  // What this run has not done yet, its first long evaluation, only a known-good run can tell.
  const bool calibrated = s.options.calibration.longest_quiet.has_value();
  Finding f;
  const bool long_silence = silent >= std::max<Duration>(kVeryLong, 2 * limit);
  f.severity = calibrated || long_silence ? Severity::warning : Severity::info;
  f.confidence = calibrated ? Confidence::medium : Confidence::low;
  f.cause = Cause::undetermined;
  f.culprits = {{CulpritKind::unknown, ""}};
  f.since = heard;
  f.summary = fmt::format(
      "the step log is silent for {} while the GPUs stay at power (phase {}): limit {}, longest "
      "silence known {}; kernels that spin, work that the log does not tell, or a log that is not "
      "written any more",
      format_duration(silent), phase_name(s.tick.phase), format_duration(limit),
      format_duration(*known));
  if (s.steps.last_step) {
    f.evidence.push_back({s.step_source, s.steps.last_step_line,
                          fmt::format("newest step {}, the log ends at {}", *s.steps.last_step,
                                      format_clock(heard))});
  }
  f.actions = {Action::collect_evidence};
  f.next =
      "see whether the log is still written; if it is, take stacks and flight-recorder dumps of "
      "all "
      "ranks before anything is killed";
  report.findings.push_back(std::move(f));
}

}  // namespace muster
