#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "core/shape/verdicts.h"

namespace muster::shape {
namespace {

constexpr double kLoadingExplains = 0.6;  // share of the lost time
constexpr double kCostly = 0.02;          // of all time
constexpr double kMatches = 0.8;          // share of events that a schedule must explain

// What a schedule in the settings is called, and what it makes of a pause.
struct Schedule {
  std::string_view word;
  Cause cause;
  std::string_view name;
};
constexpr Schedule kSchedules[] = {
    {"eval", Cause::eval_pause, "evaluation"},
    {"evaluation", Cause::eval_pause, "evaluation"},
    {"val", Cause::eval_pause, "evaluation"},
    {"validation", Cause::eval_pause, "evaluation"},
    {"save", Cause::checkpoint_in_progress, "checkpoint"},
    {"checkpoint", Cause::checkpoint_in_progress, "checkpoint"},
    {"ckpt", Cause::checkpoint_in_progress, "checkpoint"},
};

// Points at which something happens, every `every` steps; a point stands for the `steps` before it.
bool on_schedule(const CurvePoint& point, std::int64_t every) {
  const std::int64_t behind = point.step % every;
  return behind <= std::max<std::int64_t>(1, point.steps) || behind == every - 1;
}

bool follows(const Curve& curve, const std::vector<std::size_t>& points, std::int64_t every) {
  constexpr std::size_t kFewest = 2;
  if (points.size() < kFewest) return false;
  std::size_t met = 0, tight = 0;
  for (const std::size_t i : points) {
    met += on_schedule(curve.points[i], every) ? 1 : 0;
    tight += curve.points[i].steps * 3 < every ? 1 : 0;
  }
  const auto share = static_cast<double>(met) / static_cast<double>(points.size());
  return tight == points.size() && every >= 5 && share >= kMatches;
}

struct Events {
  std::vector<std::size_t> points;
  double longest_s = 0, typical_s = 0;
};

// Pauses and slow steps that the log itself does not explain, or those of one kind.
Events events_of(const ShapeCase& c, std::optional<ProgressKind> kind_a,
                 std::optional<ProgressKind> kind_b) {
  const auto wanted = [&](const std::optional<ProgressKind>& known) {
    return kind_a ? known == kind_a || known == kind_b : !known;
  };
  std::map<std::size_t, double> lost_s;  // by point
  for (const Pause& pause : c.shapes.pauses) {
    if (wanted(pause.known)) lost_s.emplace(pause.index, pause.seconds);
  }
  const double typical = c.curve.typical_step_s.value_or(0);
  for (const SlowPoint& slow : c.shapes.slow) {
    if (!wanted(slow.known)) continue;
    const double lost = c.curve.seconds ? slow.extra : (slow.ratio - 1) * typical;
    lost_s.emplace(slow.index, lost * static_cast<double>(c.curve.points[slow.index].steps));
  }
  Events events;
  std::vector<double> seconds;
  for (const auto& [index, lost] : lost_s) {
    events.points.push_back(index);
    seconds.push_back(lost);
    events.longest_s = std::max(events.longest_s, lost);
  }
  events.typical_s = median(seconds).value_or(0);
  return events;
}

Finding healthy_pause(const ShapeCase& c, const Events& events, Cause cause,
                      const std::string& summary) {
  Finding finding;
  finding.severity = Severity::ok;
  finding.confidence = Confidence::high;
  finding.cause = cause;
  finding.summary = summary;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, events.points.size()); ++i) {
    finding.evidence.push_back(seen_point(c, events.points[i], "pause"));
  }
  finding.actions = {Action::none};
  finding.next = "none; leave these windows out of what alarms watch";
  return finding;
}

// A pause that a setting announces.
std::optional<Finding> by_schedule(const ShapeCase& c, const Events& events) {
  for (const Schedule& schedule : kSchedules) {
    const Setting* setting = c.around.interval_of(schedule.word);
    if (setting == nullptr) continue;
    const auto every = parse_int(setting->value);
    if (!every || !follows(c.curve, events.points, *every)) continue;
    Finding finding = healthy_pause(
        c, events, schedule.cause,
        fmt::format("{} pauses of about {} at the steps of the {} ({}={}), full speed in between",
                    events.points.size(), seconds_text(events.typical_s), schedule.name,
                    escape_controls(setting->key, 60), *every));
    finding.evidence.push_back(quoted(setting->seen));
    return finding;
  }
  return std::nullopt;
}

Finding starved(const ShapeCase& c, const Period& period, const std::string& why) {
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = Confidence::high;
  finding.cause = Cause::data_starvation;
  const std::string extra = c.curve.seconds || period.of_pauses
                                ? seconds_text(period.extra) + " more"
                                : percent(period.ratio) + " of normal";
  finding.summary =
      fmt::format("a slow step ({}) every {:.0f} steps: {}", extra, period.steps, why);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, period.points.size()); ++i) {
    const CurvePoint& point = c.curve.points[period.points[i]];
    std::string text = speed_text(c.curve, point.step_s);
    if (!std::isnan(point.loading_s))
      text += ", " + seconds_text(point.loading_s) + " waiting for data";
    finding.evidence.push_back(seen_point(c, period.points[i], text));
  }
  finding.actions = {Action::speed_up_input, Action::recheck};
  finding.next =
      "Measure the source alone (bytes a second of the files, samples a second of the workers); "
      "data on local disk or packed, more workers, a deeper and rolling prefetch. No action on "
      "GPUs "
      "or network.";
  return finding;
}

bool period_is(const Period& period, const Setting* setting) {
  if (setting == nullptr) return false;
  const auto value = parse_int(setting->value);
  return value && *value > 1 && std::abs(period.steps - static_cast<double>(*value)) < 0.5;
}

// The workers or the prefetch window of the loader have the period of the slow steps.
std::optional<Finding> by_loader(const ShapeCase& c, const Period& period) {
  const bool waits = period.loading_share >= kLoadingExplains;
  const Setting* workers = c.around.find("workers");
  const Setting* prefetch = c.around.find("prefetch");
  if (period_is(period, workers)) {
    Finding finding =
        starved(c, period,
                fmt::format("the period is {}: the workers cannot read as fast as steps are made",
                            escape_controls(workers->key, 60)));
    if (!waits) finding.confidence = Confidence::medium;
    finding.culprits.push_back({CulpritKind::config, workers->key});
    finding.evidence.push_back(quoted(workers->seen));
    if (!c.around.data_path.empty()) {
      finding.culprits.front() = {CulpritKind::file, c.around.data_path};
      const SeenAt& place = *c.around.data_place;
      const bool same = place.source == workers->seen.source && place.line == workers->seen.line;
      if (!same) finding.evidence.push_back(quoted(place));
    }
    return finding;
  }
  if (!waits) return std::nullopt;
  if (period_is(period, prefetch)) {
    Finding finding = starved(c, period, "the prefetch window runs empty");
    finding.culprits.push_back({CulpritKind::config, "prefetch"});
    finding.evidence.push_back(quoted(prefetch->seen));
    return finding;
  }
  Finding finding = starved(c, period,
                            fmt::format("{} of the lost time is waiting for data, as if a "
                                        "prefetch window of {:.0f} steps ran empty",
                                        percent(period.loading_share), period.steps));
  finding.culprits.push_back({CulpritKind::unknown, ""});
  return finding;
}

// Dips of a second or so, 10 to 20 s apart, while steps are short enough to show them.
bool is_clock_dip(const ShapeCase& c, const Period& period) {
  return !period.of_pauses && period.steps >= 3 && period.seconds >= 10 && period.seconds <= 20 &&
         period.ratio >= 1.15 && period.ratio <= 2.5 && c.curve.typical_step_s &&
         *c.curve.typical_step_s <= 7.5;
}

Finding clock_dips(const ShapeCase& c, const Period& period) {
  Finding finding;
  finding.summary =
      fmt::format("speed dips to {} every {} ({:.0f} steps)", percent(1 / period.ratio),
                  seconds_text(period.seconds), period.steps);
  if (c.around.throttled) {
    finding.severity = Severity::critical;
    finding.confidence = Confidence::high;
    finding.cause = Cause::thermal_throttle_dips;
    finding.summary += ", and a GPU tells a hardware slowdown";
    if (!c.around.throttled_gpu.empty()) {
      const std::string host = c.around.throttled_host.empty() ? "" : c.around.throttled_host + "/";
      finding.culprits.push_back({CulpritKind::gpu, host + c.around.throttled_gpu});
    } else if (!c.around.throttled_host.empty()) {
      finding.culprits.push_back({CulpritKind::host, c.around.throttled_host});
    } else {
      finding.culprits.push_back({CulpritKind::unknown, ""});
    }
    finding.evidence.push_back(quoted(*c.around.throttled));
    finding.actions = {Action::check_power_cooling, Action::exclude_host};
    finding.next = "Cooling and power supply of that host; until then run without it.";
    return finding;
  }
  finding.severity = Severity::warning;
  finding.confidence = Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  finding.actions = {Action::collect_evidence};
  finding.summary += ": the shape of clocks that heat or a power supply throttles";
  if (c.around.clocks_fine) {
    finding.summary += ", but the clocks are said to be fine";
    finding.evidence.push_back(quoted(*c.around.clocks_fine));
  }
  finding.next =
      "Clocks and throttle reasons of every GPU once a second for a minute (muster record "
      "nvml, muster triage): which GPU drops every 15 s?";
  return finding;
}

Finding unexplained(const ShapeCase& c, const Period& period, double cost) {
  Finding finding;
  const bool costly = !period.of_pauses && cost >= kCostly;
  finding.severity = costly ? Severity::warning : Severity::info;
  finding.confidence = Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  finding.actions = {costly ? Action::collect_evidence : Action::watch};
  finding.summary = period.of_pauses
                        ? fmt::format(
                              "a pause of about {} every {:.0f} steps: the shape of a save "
                              "or an evaluation that the log does not name",
                              seconds_text(period.extra), period.steps)
                        : fmt::format(
                              "a slow step (x{:.2f}) every {:.0f} steps, {} of the time: "
                              "garbage collection, logging, a save, an evaluation or a change "
                              "of data file",
                              period.ratio, period.steps, percent(cost));
  for (std::size_t i = 0; i < std::min<std::size_t>(3, period.points.size()); ++i) {
    finding.evidence.push_back(seen_point(
        c, period.points[i],
        period.of_pauses ? std::string("pause before it")
                         : speed_text(c.curve, c.curve.points[period.points[i]].step_s)));
  }
  finding.next = fmt::format(
      "What does the run do every {:.0f} steps? Give its settings beside the log (save, eval, log "
      "and gc intervals, num_workers); then a profile of one such step.",
      period.steps);
  return finding;
}

const Setting* harmless_schedule(const ShapeCase& c, const Period& period) {
  for (const std::string_view word : {"gc", "collect", "log", "logging"}) {
    const Setting* setting = c.around.interval_of(word);
    if (period_is(period, setting)) return setting;
  }
  return nullptr;
}

std::optional<Finding> of_period(const ShapeCase& c, const Period& period) {
  if (auto finding = by_loader(c, period)) return finding;
  if (is_clock_dip(c, period)) {
    Finding finding = clock_dips(c, period);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, period.points.size()); ++i) {
      const std::size_t at = period.points[i];
      finding.evidence.push_back(seen_point(c, at, speed_text(c.curve, c.curve.points[at].step_s)));
    }
    return finding;
  }
  Finding finding = unexplained(c, period, c.shapes.slow_cost);
  if (const Setting* setting = harmless_schedule(c, period)) {
    finding.severity = Severity::info;
    finding.summary = fmt::format(
        "a slow step (x{:.2f}) every {:.0f} steps, as {} says; {} of the time", period.ratio,
        period.steps, escape_controls(setting->key, 60), percent(c.shapes.slow_cost));
    finding.evidence.push_back(quoted(setting->seen));
    finding.actions = {Action::watch};
    finding.next = "Planned work; a longer interval gives the time back.";
  }
  return finding;
}

}  // namespace

std::vector<Finding> judge_periods(const ShapeCase& c) {
  std::vector<Finding> findings;
  const Events unknown = events_of(c, {}, {});
  if (auto finding = by_schedule(c, unknown)) {
    findings.push_back(std::move(*finding));
  } else {
    if (c.shapes.slow_period) {
      if (auto slow = of_period(c, *c.shapes.slow_period)) findings.push_back(std::move(*slow));
    }
    if (c.shapes.pause_period) {
      if (auto pause = of_period(c, *c.shapes.pause_period)) findings.push_back(std::move(*pause));
    }
  }
  const double least_s = 5 * c.curve.typical_step_s.value_or(1e9);
  const Events saves = events_of(c, ProgressKind::save_begin, ProgressKind::save_end);
  if (saves.longest_s >= least_s) {
    findings.push_back(
        healthy_pause(c, saves, Cause::checkpoint_in_progress,
                      fmt::format("{} pauses of about {} for saves that the log names",
                                  saves.points.size(), seconds_text(saves.typical_s))));
  }
  const Events evals = events_of(c, ProgressKind::eval_begin, ProgressKind::eval_end);
  if (evals.longest_s >= least_s) {
    findings.push_back(
        healthy_pause(c, evals, Cause::eval_pause,
                      fmt::format("{} pauses of about {} for evaluations that the log "
                                  "names",
                                  evals.points.size(), seconds_text(evals.typical_s))));
  }
  return findings;
}

}  // namespace muster::shape
