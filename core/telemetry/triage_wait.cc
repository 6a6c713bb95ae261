#include <fmt/core.h>

#include <algorithm>

#include "base/limits.h"
#include "base/timestamp.h"
#include "core/telemetry/triage_state.h"

// Findings about the run as a whole: hangs, saves, waits, what the middle bands mean.

namespace muster {
namespace {

using namespace std::chrono_literals;

std::size_t run_size(const TriageState& s) {
  return s.inputs.size();
}

// The clock of people: the date only where the log or the telemetry has one.
std::string at_text(WallTime at) {
  return format_clock(at);
}

bool odd_is_sure(const Wait& w) {
  return w.odd && w.odd_ticks * 5 >= w.ticks * 4;
}

// A spare GPU that never worked here, and draws idle power, is no rank that others wait for.
bool took_part(const TriageState& s, SeriesId id) {
  const SeriesState& g = s.series[id];
  if (g.ever_active) return true;
  return !g.bands.relative && g.bands.level_of(g.power()) == PowerLevel::floor;
}

bool one_rank_shape(const Wait& w) {
  return w.shape == Shape::one_zero || w.shape == Shape::rank0_zero;
}

std::string power_text(const TriageState& s) {
  std::vector<double> watts;
  for (const TickInput& in : s.inputs) {
    const Reading power = s.series[in.id].power();
    if (power.has_value()) watts.push_back(power.value());
  }
  if (watts.empty()) return "power unknown";
  const auto [low, high] = std::minmax_element(watts.begin(), watts.end());
  if (*high - *low < 0.5) return fmt::format("{:.0f} W", *low);
  return fmt::format("{:.0f}-{:.0f} W", *low, *high);
}

std::string limit_text(const WaitLimit& limit) {
  const std::string at = format_duration(limit.limit);
  if (!limit.known) return fmt::format("limit {}, no healthy wait is known", at);
  return fmt::format("limit {}, longest healthy wait {}", at, format_duration(*limit.known));
}

void add_odd_evidence(const TriageState& s, const Wait& w, Finding& f) {
  std::size_t shown = 0;
  for (const TickInput& in : s.inputs) {
    const bool zero = in.util_percent && *in.util_percent <= 5;
    if (!zero && shown > 0) continue;
    if (f.evidence.size() >= 6) break;
    shown += !zero;
    const Reading power = s.series[in.id].power();
    const std::string util = in.util_percent ? fmt::format("{:.0f} %", *in.util_percent)
                                             : std::string("utilization unknown");
    const std::string watts =
        power.has_value() ? fmt::format("{:.0f} W", power.value()) : std::string("power unknown");
    f.evidence.push_back(
        evidence_of(s, in.id, fmt::format("{}: {}, {}", s.label(in.id), util, watts)));
  }
  f.evidence.push_back(
      {"", std::nullopt,
       fmt::format("{} ticks at the floor from {} to {}, no busy sample between{}", w.ticks,
                   at_text(w.from), at_text(w.last),
                   w.unseen > Duration{}
                       ? fmt::format(", {} of it not seen", format_duration(w.unseen))
                   : w.longest_gap > kSparseGap
                       ? fmt::format(", up to {} apart", format_duration(w.longest_gap))
                       : "")});
}

void add_step_evidence(const TriageState& s, Finding& f) {
  if (!s.steps.last_step) return;
  const auto at = newest_step_at(s);
  f.evidence.push_back(
      {s.step_source, s.steps.last_step_line,
       fmt::format("newest step {}{}{}", *s.steps.last_step,
                   s.steps.target_step ? fmt::format(" of {}", *s.steps.target_step) : "",
                   at ? " at " + at_text(*at) : "")});
}

bool looks_like_save(const Wait& w) {
  return w.shape == Shape::rank0_zero || w.shape == Shape::several_zero;
}

// A floor that is not well below the work of this run is no proof of waiting: a model that is small
// for its GPUs trains there. Collectives spin at 0.2 to 0.4 of compute, at 0.6 under a hard cap.
bool below_work(const TriageState& s) {
  constexpr double kShareOfWork = 0.8;
  const auto work = s.work_w.quantile(), wait = s.wait_w.quantile();
  if (!work || !wait || s.work_w.seen() < 5) return true;
  return *wait <= kShareOfWork * *work;
}

// Why a frozen step log does not make it sure; empty where it does.
std::string_view doubt_of_log(const TriageState& s, const Wait& w) {
  if (w.length() >= kUnknownSave) return {};
  if (may_start_again(s, w)) return "a run that starts again looks the same";
  const bool known = s.waits.looked_healthy(w);
  if (w.shape == Shape::one_zero && known) return "waits of this run that ended looked the same";
  // Rank 0 may save on a host that is not seen here: then all that are seen spin.
  const bool elsewhere = w.shape == Shape::all_spinning && (known || !s.waits.newest_healthy());
  if ((looks_like_save(w) || elsewhere) && !tells_saves(s)) {
    return "a save looks the same, and the step log has never told one";
  }
  return {};
}

// Why power and utilization alone are not sure; empty where they are.
std::string_view doubt_of_power(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  if (w.shape == Shape::none || w.shape == Shape::scatter) return "power alone does not tell rest";
  if (!below_work(s)) return "the power is that of this run's own work";
  // What lies in a gap was not seen.
  const bool sparse = w.longest_gap > kSparseGap && w.longest_gap * 10 > w.length() * 3;
  if (sparse || w.unbroken() < std::min(limit.limit, w.length())) return "much of it was not seen";
  if (w.shape == Shape::all_spinning && !w.after_work) return "no work of this run was seen yet";
  // Compilation and loading before work.
  const bool fresh = !w.after_work || may_start_again(s, w);
  if (fresh && w.length() < kStartUp) return "a run that starts looks the same";
  if (w.shape == Shape::rank0_zero && !limit.known && w.length() < kStartUp) {
    return "a save looks the same";
  }
  if (w.length() >= kUnknownSave) return {};
  if (!limit.known) return "how long this run waits in health is not known";
  if (looks_like_save(w)) return "a long save looks the same";
  if (s.waits.looked_healthy(w)) return "waits of this run that ended looked the same";
  // Rank 0 may save on a host that is not seen here.
  if (w.shape == Shape::all_spinning && !s.waits.newest_healthy()) return "a save looks the same";
  return {};
}

// Why the hang is only a hint; empty where it is more.
std::string_view hang_doubt(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  return steps_frozen(s, w) ? doubt_of_log(s, w) : doubt_of_power(s, w, limit);
}

Confidence hang_confidence(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  if (!hang_doubt(s, w, limit).empty()) return Confidence::low;
  const bool proven =
      w.shape != Shape::none && below_work(s) && !(may_start_again(s, w) && w.length() < kStartUp);
  return steps_frozen(s, w) && proven ? Confidence::high : Confidence::medium;
}

std::string shape_text(const TriageState& s, const Wait& w) {
  const std::string others =
      run_size(s) > 2 ? fmt::format("the other {} spin", run_size(s) - 1) : "the other one spins";
  switch (w.shape) {
    case Shape::one_zero:
    case Shape::rank0_zero:
      if (odd_is_sure(w)) return fmt::format("{} at 0 %, {}", s.label(*w.odd), others);
      return "one rank at 0 % (not always the same), the rest spin";
    case Shape::several_zero:
      return "some ranks at 0 %, the others spin";
    case Shape::all_spinning:
      return "all ranks spin, nobody at 0 %";
    default:
      return "no work on any GPU";
  }
}

// The measurement that tells a hang from what looks like it.
std::string what_decides(const TriageState& s) {
  std::string out;
  if (!s.steps.seen)
    out = "give the step log of this run (--steps): steps or a save in it decide; ";
  if (s.options.calibration.empty()) {
    out += "calibrate on a known-good run (muster calibrate): it knows the power of work; ";
  }
  return out + "stacks of the odd rank and of one that waits, twice: does anything move?";
}

Finding hang_finding(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  Finding f;
  f.confidence = hang_confidence(s, w, limit);
  f.severity = Severity::critical;
  f.cause = Cause::collective_hang;
  f.since = w.from;
  f.culprits = {{CulpritKind::unknown, ""}};
  if (one_rank_shape(w) && odd_is_sure(w) && took_part(s, *w.odd)) f.culprits = {s.blame(*w.odd)};
  if (w.shape == Shape::rank0_zero && limit.saving) f.cause = Cause::slow_save;
  const bool blind_power = w.shape == Shape::none || w.shape == Shape::scatter;
  if (blind_power && f.confidence == Confidence::low) {
    f.cause = Cause::undetermined;
    f.severity = Severity::warning;
  }
  const std::string_view doubt = hang_doubt(s, w, limit);
  f.summary = fmt::format("{}; power floor ({}) for {}: {}{}{}{}", shape_text(s, w), power_text(s),
                          format_duration(w.length()), limit_text(limit),
                          shows_no_save(s, w) ? "; the step log shows no save" : "",
                          doubt.empty() ? "" : "; a hint only: ", doubt);
  add_odd_evidence(s, w, f);
  add_step_evidence(s, f);
  if (s.steps.error_quote) {
    f.evidence.push_back({s.step_source, s.steps.error_quote->line, s.steps.error_quote->text});
  }
  f.actions = {Action::collect_evidence, Action::restart_from_checkpoint};
  if (s.steps.target_step && s.steps.last_step &&
      *s.steps.last_step * 100 >= *s.steps.target_step * 99) {
    f.actions = {Action::collect_evidence, Action::equalize_steps, Action::restart_from_checkpoint};
  }
  if (!doubt.empty()) {
    f.actions = {Action::collect_evidence, Action::watch};
    f.next = what_decides(s);
    return f;
  }
  f.next =
      "before anything is killed: flight-recorder dumps of all ranks (different collectives on "
      "different ranks are conclusive) and the stacks of the odd rank; then restart from the "
      "newest "
      "complete checkpoint";
  return f;
}

Finding save_finding(const TriageState& s, const Wait& w, const WaitLimit& limit, bool open) {
  Finding f;
  f.severity = Severity::ok;
  const bool unsaid = open && shows_no_save(s, w);
  f.confidence = !unsaid && (limit.known || s.steps.seen) ? Confidence::high : Confidence::medium;
  f.cause = Cause::checkpoint_in_progress;
  f.since = w.from;
  if (open) {
    f.summary = fmt::format(
        "save {}: {}, power floor; {}{}",
        w.length() < 1s ? "that has just begun" : "in progress for " + format_duration(w.length()),
        w.odd ? s.label(*w.odd) + " alone at 0 %" : "a save is open in the log", limit_text(limit),
        unsaid ? "; the step log shows no save" : "");
    f.actions = {Action::none, Action::watch};
    f.next = fmt::format("wait; it is called a hang at {}", format_duration(limit.limit));
  } else {
    f.summary = fmt::format(
        "normal save: {} alone at 0 % for {}, the others waited at the power "
        "floor, then full power again",
        w.odd ? s.label(*w.odd) : "rank 0", format_duration(w.length()));
    f.actions = {Action::none};
    f.next = "none";
  }
  if (s.steps.save_quote) {
    f.evidence.push_back({s.step_source, s.steps.save_quote->line, s.steps.save_quote->text});
  }
  return f;
}

// Rank 0 is apart for longer than a save of this run is known to take, or than most saves do, and
// nobody says that it saves.
bool is_long_save(const Wait& w, const WaitLimit& limit) {
  if (limit.saving || w.shape != Shape::rank0_zero || !w.after_work) return false;
  return w.length() >= std::max<Duration>(kLongSave, limit.known.value_or(Duration{}) + 30s);
}

Finding long_save_finding(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  Finding f = save_finding(s, w, limit, true);
  f.severity = Severity::warning;
  f.confidence = Confidence::low;
  f.cause = Cause::undetermined;
  f.summary =
      fmt::format("{}; power floor ({}) for {}: a long save, or a hang that looks like one; {}{}",
                  shape_text(s, w), power_text(s), format_duration(w.length()), limit_text(limit),
                  shows_no_save(s, w) ? "; the step log shows no save" : "");
  add_odd_evidence(s, w, f);
  f.actions = {Action::watch, Action::collect_evidence};
  f.next = what_decides(s);
  return f;
}

// A log is there and shows no save, for longer than this run's saves that it did not show either.
bool is_unsaid_save(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  return shows_no_save(s, w) &&
         w.length() >= std::max(s.options.min_hang, limit.known.value_or(Duration{}));
}

Finding unsaid_save_finding(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  Finding f = save_finding(s, w, limit, true);
  f.severity = Severity::warning;
  f.confidence = Confidence::low;
  f.cause = Cause::undetermined;
  f.summary = fmt::format(
      "{} alone at 0 % for {}: a save, or rank 0 is stuck; the step log shows no save; {}",
      w.odd ? s.label(*w.odd) : "rank 0", format_duration(w.length()), limit_text(limit));
  add_odd_evidence(s, w, f);
  add_step_evidence(s, f);
  f.actions = {Action::watch, Action::collect_evidence};
  f.next = what_decides(s);
  return f;
}

// Nothing ran, and now some GPUs spin and others do not: the run loads, or hangs as it begins.
Finding start_again_finding(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  const bool is_long = w.length() >= kLongSave;
  Finding f;
  f.severity = is_long ? Severity::warning : Severity::info;
  f.confidence = is_long ? Confidence::low : Confidence::medium;
  f.cause = Cause::undetermined;
  f.since = w.from;
  f.summary = fmt::format(
      "nothing ran for {}; since then {}; power floor ({}) for {}: a run that starts again, or a "
      "hang; {}",
      format_duration(w.from - *w.rest_from), shape_text(s, w), power_text(s),
      format_duration(w.length()), limit_text(limit));
  add_odd_evidence(s, w, f);
  add_step_evidence(s, f);
  f.actions = {Action::watch};
  f.next = is_long ? what_decides(s)
                   : fmt::format("watch on; a hang is called at {}", format_duration(limit.limit));
  return f;
}

// As long as a save may take nobody is surprised by one that is not in the log.
bool longer_than_saves(const Wait& w, const WaitLimit& limit) {
  return w.length() >= std::max(kUnknownSave, limit.known.value_or(Duration{}));
}

Finding waiting_finding(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  Finding f;
  f.severity = Severity::info;
  f.confidence = Confidence::medium;
  f.cause = Cause::undetermined;
  f.since = w.from;
  f.summary = fmt::format("{}; power floor ({}) for {}: {}", shape_text(s, w), power_text(s),
                          format_duration(w.length()), limit_text(limit));
  f.actions = {Action::watch};
  f.next = fmt::format("watch on; a hang is called at {}", format_duration(limit.limit));
  if (shows_no_save(s, w)) {
    f.summary += "; the step log shows no save";
    f.confidence = Confidence::low;
    if (w.length() >= kStartUp) {
      f.severity = Severity::warning;
      f.confidence = Confidence::medium;
    }
  }
  add_odd_evidence(s, w, f);
  return f;
}

Finding starting_finding(const TriageState& s, const Wait& w, const WaitLimit& limit) {
  Finding f = waiting_finding(s, w, limit);
  f.severity = Severity::info;
  f.confidence = Confidence::medium;
  f.cause = Cause::compile_warmup;
  f.summary += "; by the newest lines of the step log the run starts";
  f.next = fmt::format("wait; a hang is called {} after the start", format_duration(limit.limit));
  if (const auto& quote = s.steps.start_quote) {
    f.evidence.push_back({s.step_source, quote->line, quote->text});
  }
  return f;
}

// The log is complete, and ranks still spin: a last save or upload, or ranks that do not leave.
Finding ending_finding(const TriageState& s, const Wait& w) {
  Finding f;
  f.severity = Severity::info;
  f.confidence = Confidence::low;
  f.cause = w.shape == Shape::rank0_zero ? Cause::checkpoint_in_progress : Cause::undetermined;
  f.since = w.from;
  f.summary =
      fmt::format("{}; power floor ({}) for {}; the run is complete: a last save, or its end",
                  shape_text(s, w), power_text(s), format_duration(w.length()));
  add_odd_evidence(s, w, f);
  add_step_evidence(s, f);
  f.actions = {Action::watch};
  f.next = fmt::format("watch on; a hang is called at {}", format_duration(kStartUp));
  return f;
}

void add_rest(const TriageState& s, const Wait& w, Report& report) {
  if (w.length() < 60s) return;
  Finding f;
  f.severity = Severity::info;
  f.confidence = Confidence::medium;
  f.cause = Cause::gpus_idle;
  f.since = w.from;
  f.summary = fmt::format("power floor ({}) for {}; the run is complete", power_text(s),
                          format_duration(w.length()));
  add_step_evidence(s, f);
  f.actions = {Action::watch};
  f.next = "none if no run is expected here";
  report.findings.push_back(std::move(f));
}

void add_open_wait(const TriageState& s, Report& report) {
  const Wait& w = *s.waits.open();
  const WaitLimit limit = wait_limit(s, w);
  if (std::string note = log_clock_note(s, w); !note.empty()) {
    report.notes.push_back(std::move(note));
  }
  if (is_hang(s, w)) {
    report.findings.push_back(hang_finding(s, w, limit));
  } else if (is_over(s, w) && w.shape == Shape::none) {
    add_rest(s, w, report);
  } else if (is_over(s, w)) {
    if (w.length() >= s.options.min_hang) report.findings.push_back(ending_finding(s, w));
  } else if (steps_went_on(s, w)) {
    report.notes.push_back("power is at the floor while the step log goes on: no hang");
  } else if (is_starting(s, w)) {
    report.findings.push_back(starting_finding(s, w, limit));
  } else if (!limit.saving && may_start_again(s, w)) {
    report.findings.push_back(start_again_finding(s, w, limit));
  } else if (is_long_save(w, limit)) {
    report.findings.push_back(long_save_finding(s, w, limit));
  } else if (is_unsaid_save(s, w, limit) && !longer_than_saves(w, limit)) {
    report.findings.push_back(unsaid_save_finding(s, w, limit));
  } else if (limit.saving || (w.shape == Shape::rank0_zero &&
                              !(shows_no_save(s, w) && longer_than_saves(w, limit)))) {
    report.findings.push_back(save_finding(s, w, limit, true));
  } else if (w.shape != Shape::none) {
    report.findings.push_back(waiting_finding(s, w, limit));
  }
}

// The whole run at 0 %: over, blocked on the hosts, or not started yet.
void add_idle(const TriageState& s, Report& report) {
  if (!s.segment) return;
  const PhaseSegment& now = s.segment->segment;
  if (now.phase != Phase::idle && now.phase != Phase::context_idle) return;
  const Duration length = now.to - now.from;
  Finding f;
  f.confidence = Confidence::medium;
  f.since = now.from;
  if (!s.waits.first_busy() && s.steps.newest_compile && s.steps.steps == 0) {
    const WallTime line = s.steps.newest_compile->near(*s.newest);
    const bool fresh = s.tick_at - line < kStartUp;
    f.severity = Severity::info;
    f.cause = fresh ? Cause::compile_warmup : Cause::undetermined;
    f.summary = fmt::format(
        "no step yet, all {} GPUs alike at 0 % ({}); the log still compiles "
        "(newest such line {})",
        run_size(s), power_text(s), at_text(line));
    f.evidence.push_back({s.step_source, s.steps.compile_quote->line, s.steps.compile_quote->text});
    f.actions = {Action::watch};
    f.next = "wait; keep the limit to the first step above the compile time (17-30 min seen)";
    report.findings.push_back(std::move(f));
    return;
  }
  if (length < 60s) return;
  const bool stopped_early = s.steps.seen && s.steps.last_step && !s.steps.complete() &&
                             s.waits.first_busy() && length > kUnknownSave;
  f.severity = stopped_early ? Severity::warning : Severity::info;
  f.cause = stopped_early ? Cause::undetermined : Cause::gpus_idle;
  f.summary = fmt::format("no kernel on any of {} GPUs for {} ({}){}", run_size(s),
                          format_duration(length), power_text(s),
                          stopped_early        ? ", and the step log stands short of its target"
                          : s.steps.complete() ? "; the run is complete"
                                               : "");
  add_step_evidence(s, f);
  f.actions = {stopped_early ? Action::collect_evidence : Action::watch};
  f.next = stopped_early
               ? "look at the processes and the logs of all ranks: crashed, or blocked on "
                 "the hosts (storage, data)"
               : "none if no run is expected here";
  report.findings.push_back(std::move(f));
}

// One rank at 0 % while the others are busy above the floor: no hang by the power rule, and no
// queue that runs dry. Where the step log stands still as well it is more than a hint.
void add_apart_above_floor(const TriageState& s, Report& report) {
  if (!s.segment || !s.segment->odd || !s.segment->odd_steady) return;
  const PhaseSegment& now = s.segment->segment;
  Wait w;
  w.from = w.resumed = now.from;
  w.last = now.to;
  w.ticks = w.odd_ticks = s.segment->ticks;
  w.after_work = true;
  w.shape = now.shape;
  w.odd = s.segment->odd;
  if (now.phase != Phase::waiting || !one_rank_shape(w)) return;
  const WaitLimit limit = wait_limit(s, w);
  const bool may_save = limit.saving || w.shape == Shape::rank0_zero;
  const Duration hint = may_save ? std::max<Duration>(kLongSave, limit.known.value_or(Duration{}))
                                 : s.options.min_hang;
  const Duration still = still_for(s, w);  // steps that go on make it short
  const bool frozen = steps_frozen(s, w) && still >= std::max(kUnknownSave, limit.limit);
  if (still < s.options.min_hang) return;
  const bool waits = still >= hint || frozen;
  if (is_over(s, w) || is_starting(s, w)) return;
  Finding f;
  f.severity = frozen ? Severity::critical : waits ? Severity::warning : Severity::info;
  f.confidence = frozen ? Confidence::medium : Confidence::low;
  f.cause = frozen ? Cause::collective_hang : Cause::undetermined;
  f.since = w.from;
  if (frozen) f.culprits = {s.blame(*w.odd)};
  f.summary = fmt::format(
      "{} at 0 % while all others are busy, above the power floor ({}), for {}{}", s.label(*w.odd),
      power_text(s), format_duration(w.length()), frozen ? "; the step log stands still" : "");
  add_step_evidence(s, f);
  f.actions = {Action::collect_evidence};
  f.next = frozen ? "stacks of that rank and of one that waits, before anything is killed"
                  : what_decides(s);
  report.findings.push_back(std::move(f));
}

void add_middle_band(const TriageState& s, Report& report) {
  if (!s.segment || s.segment->ticks < 5) return;
  const PhaseSegment& now = s.segment->segment;
  if (now.to - now.from < 60s) return;
  Finding f;
  f.confidence = Confidence::medium;
  f.since = now.from;
  const std::string length = format_duration(now.to - now.from);
  if (now.phase == Phase::starved) {
    f.severity = Severity::warning;
    f.cause = Cause::data_starvation;
    f.summary = fmt::format(
        "middle power ({}) and uneven utilization for {}: the ranks wait for "
        "something upstream of the GPUs",
        power_text(s), length);
    f.actions = {Action::speed_up_input, Action::collect_evidence};
    f.next = "look at tokenization CPU, loader workers and the load of the hosts";
  } else if (now.phase == Phase::communication && now.shape == Shape::uniform) {
    f.severity = Severity::info;
    f.cause = Cause::communication_bound;
    f.summary = fmt::format(
        "all GPUs busy at {} for {}: communication or memory traffic, not "
        "compute",
        power_text(s), length);
    f.actions = {Action::watch, Action::recheck};
    f.next = "if it lasts: overlap of communication fails, or the job is small for its GPUs";
  } else if (now.phase == Phase::waiting && now.shape == Shape::one_busy && s.segment->odd &&
             now.to - now.from >= s.options.min_hang) {
    f.severity = Severity::warning;
    f.cause = Cause::one_rank_long_work;
    if (s.segment->odd_steady) f.culprits = {s.blame(*s.segment->odd)};
    f.summary = fmt::format("{} works while all others wait at the power floor for {}",
                            s.label(*s.segment->odd), length);
    f.actions = {Action::collect_evidence, Action::raise_timeout};
    f.next = "stacks of that rank: evaluation, preprocessing or compilation on one rank only";
  } else {
    return;
  }
  report.findings.push_back(std::move(f));
}

void add_save_share(const TriageState& s, Report& report) {
  const auto from = s.waits.first_busy(), to = s.waits.last_busy();
  if (!from || !to || *to - *from < 10min || s.waits.save_count() < 3) return;
  const double share = duration_to_seconds(s.waits.save_total()) / duration_to_seconds(*to - *from);
  if (share <= 0.20) return;
  Finding f;
  f.severity = Severity::warning;
  f.confidence = Confidence::medium;
  f.cause = Cause::checkpoint_dominated;
  f.summary = fmt::format("{:.0f} % of {} went into {} saves at the power floor (longest {})",
                          share * 100, format_duration(*to - *from), s.waits.save_count(),
                          format_duration(s.waits.longest_healthy().value_or(Duration{})));
  f.actions = {Action::fix_config};
  f.next = "save less often, or in the background";
  report.findings.push_back(std::move(f));
}

}  // namespace

WaitLimit wait_limit(const TriageState& s, const Wait& wait) {
  WaitLimit out;
  for (const auto& known :
       {s.options.calibration.longest_wait, s.waits.longest_healthy(), s.steps.longest_save}) {
    // A save that began and ended in one second of the log tells no length.
    if (known && *known > Duration{}) out.known = std::max(out.known.value_or(Duration{}), *known);
  }
  out.limit = s.options.min_hang;
  if (out.known) out.limit = std::max(out.limit, *out.known * 3 / 2 + 30s);
  out.saving = s.steps.saving;
  if (out.saving) {
    out.limit = std::max({out.limit, kUnknownSave, s.steps.longest_save.value_or(Duration{}) * 3});
  } else if (wait.shape == Shape::rank0_zero && !out.known) {
    out.limit = std::max(out.limit, kUnknownSave);
  }
  if (s.steps.evaluating) out.limit = std::max(out.limit, kUnknownSave);
  if (!wait.after_work && s.steps.steps == 0) {
    out.limit = std::max(out.limit, s.steps.seen ? kStartUp : kUnknownSave);
  }
  if (may_start_again(s, wait)) out.limit = std::max(out.limit, kUnknownSave);
  if (is_starting(s, wait)) out.limit = std::max(out.limit, kStartUp);
  return out;
}

bool is_hang(const TriageState& s, const Wait& wait) {
  if (s.options.rule == HangRule::two_samples) return wait.one_zero_run >= 2;
  return !is_over(s, wait) && still_for(s, wait) >= wait_limit(s, wait).limit;
}

void remember_hang(TriageState& s) {
  const auto& wait = s.waits.open();
  if (!wait || !is_hang(s, *wait)) return;
  Finding f = hang_finding(s, *wait, wait_limit(s, *wait));
  if (!s.hangs.empty() && s.hangs.back().since == f.since) s.hangs.pop_back();
  if (s.hangs.size() < limits::kFindingsNamed) s.hangs.push_back(std::move(f));
}

void add_wait_findings(const TriageState& s, Report& report) {
  if (s.waits.open()) {
    add_open_wait(s, report);
  } else {
    add_idle(s, report);
    add_middle_band(s, report);
    add_apart_above_floor(s, report);
    if (s.waits.newest_healthy() && s.waits.newest_healthy()->shape == Shape::rank0_zero) {
      const Wait& w = *s.waits.newest_healthy();
      report.findings.push_back(save_finding(s, w, wait_limit(s, w), false));
    }
  }
  add_save_share(s, report);
}

void add_undated_wait(const TriageState& s, Report& report) {
  if (!s.waits.open()) return;
  const Wait& w = *s.waits.open();
  if (w.shape == Shape::none) return;
  Finding f;
  f.severity = Severity::warning;
  f.confidence = Confidence::low;
  f.cause = Cause::undetermined;
  f.culprits = {{CulpritKind::unknown, ""}};
  f.summary = fmt::format("{}; power floor ({}) in the newest {} ticks; for how long is not known",
                          shape_text(s, w), power_text(s), w.ticks);
  f.actions = {Action::collect_evidence, Action::watch};
  f.next = "sample with a timestamp (muster triage --print-sampler)";
  report.findings.push_back(std::move(f));
}

Phase phase_now(const TriageState& s) {
  if (s.waits.open() && is_hang(s, *s.waits.open())) return Phase::hang_suspected;
  return s.tick.phase;
}

Evidence evidence_of(const TriageState& s, SeriesId id, std::string text) {
  const SeriesState& series = s.series[id];
  Evidence e;
  e.source = series.source;
  if (series.line > 0) e.line = series.line;
  e.text = std::move(text);
  return e;
}

}  // namespace muster
