#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "core/shape/verdicts.h"

namespace muster::shape {
namespace {

constexpr double kHealed = 0.5;  // of a sag that a restart must take back

// Of the attempts that grow slower: what they lost in sum, and what the restarts behind them gave
// back. In sum, since a share of some 30 points moves by chance.
struct Healing {
  std::size_t restarts = 0;
  double grown = 0, given_back = 0;
  const AttemptTrend* worst = nullptr;
  bool by_share = false;

  bool healed() const { return restarts > 0 && given_back >= kHealed * grown; }
};

bool grows(const AttemptTrend& trend) {
  return trend.sags || trend.slow_grows;
}

Healing healing_of(const std::vector<AttemptTrend>& attempts) {
  Healing out;
  for (const AttemptTrend& trend : attempts) out.by_share = out.by_share || trend.slow_grows;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const AttemptTrend& trend = attempts[i];
    if (!grows(trend)) continue;
    const bool worse = out.worst == nullptr ||
                       trend.slow_last + trend.total > out.worst->slow_last + out.worst->total;
    if (worse) out.worst = &trend;
    if (i + 1 == attempts.size()) continue;
    const AttemptTrend& next = attempts[i + 1];
    constexpr std::size_t kTells = 20;  // points of the next attempt
    if (next.end - next.from < kTells || !(next.first_level > 0)) continue;
    ++out.restarts;
    if (out.by_share) {
      out.grown += trend.slow_last - trend.slow_first;
      out.given_back += trend.slow_last - next.slow_first;
    } else {
      out.grown += trend.last_level - trend.first_level;
      out.given_back += trend.last_level - next.first_level;
    }
  }
  return out;
}

std::string growth_text(const ShapeCase& c, const AttemptTrend& trend) {
  const std::int64_t from = c.curve.points[trend.from].step;
  const std::int64_t end = c.curve.points[trend.end - 1].step;
  if (trend.slow_grows) {
    std::vector<double> ratios;
    for (const SlowPoint& slow : c.shapes.slow) {
      if (slow.index >= trend.from && slow.index < trend.end) ratios.push_back(slow.ratio);
    }
    return fmt::format(
        "the share of slow steps (x{:.2f}) grows from {} to {} within steps {} to {}",
        median(ratios).value_or(1), percent(trend.slow_first), percent(trend.slow_last), from, end);
  }
  if (!c.curve.typical_step_s) {
    return fmt::format("steps grow {} slower within steps {} to {}", percent(trend.total), from,
                       end);
  }
  return fmt::format("steps grow {} slower within steps {} to {} ({} an hour)",
                     percent(trend.total), from, end, percent(trend.per_hour));
}

void add_witnesses(const ShapeCase& c, Finding& finding) {
  if (c.around.restart_note) finding.evidence.push_back(quoted(*c.around.restart_note));
  if (c.around.clocks_fine) finding.evidence.push_back(quoted(*c.around.clocks_fine));
  if (c.around.network_fine &&
      (!c.around.clocks_fine || c.around.network_fine->line != c.around.clocks_fine->line)) {
    finding.evidence.push_back(quoted(*c.around.network_fine));
  }
}

}  // namespace

std::optional<Finding> judge_sag(const ShapeCase& c) {
  const Healing healing = healing_of(c.shapes.attempts);
  if (healing.worst == nullptr) return std::nullopt;
  // A change of level inside the attempt is no sag.
  if (!healing.by_share) {
    for (const LevelChange& change : c.shapes.changes) {
      if (change.from >= healing.worst->from && change.from < healing.worst->end)
        return std::nullopt;
    }
  }
  Finding finding;
  finding.severity = Severity::warning;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  const std::string growth = growth_text(c, *healing.worst);
  for (const AttemptTrend& trend : c.shapes.attempts) {
    if (!grows(trend) || finding.evidence.size() >= 3) continue;
    finding.evidence.push_back(seen_point(c, trend.end - 1, growth_text(c, trend)));
  }
  add_witnesses(c, finding);
  if (healing.healed()) {
    finding.confidence =
        c.around.clocks_fine || healing.restarts > 1 ? Confidence::high : Confidence::medium;
    finding.cause = Cause::gc_pauses;
    finding.summary = fmt::format(
        "{} until {} takes it away: Python's garbage collector, or state that grows on the "
        "hosts",
        growth,
        healing.restarts == 1 ? "the restart"
                              : fmt::format("each of {} restarts", healing.restarts));
    finding.actions = {Action::coordinate_gc, Action::recheck};
    finding.next =
        "Let every rank collect garbage between the same two steps only (gc.disable() at the "
        "start, gc.collect() there) and see whether the sag stays away; if it comes back, watch "
        "the memory of the ranks. The nodes need no repair.";
    return finding;
  }
  finding.confidence = Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.actions = {Action::collect_evidence};
  if (healing.restarts > 0) {
    finding.summary = growth +
                      ", and restarts do not heal it: heat, longer samples in the order of "
                      "the data, or a cache on disk that grows";
    finding.next = "Inlet temperatures and clocks over the same hours, and tokens a step.";
  } else {
    finding.summary = growth +
                      ": garbage collection or growing state on the hosts, heat, or longer "
                      "samples";
    finding.next =
        "Memory of the ranks over the same hours, clocks and temperatures, tokens a step; a "
        "restart that heals it says garbage collection or a leak.";
  }
  return finding;
}

std::optional<Finding> judge_sawtooth(const ShapeCase& c) {
  if (!c.shapes.sawtooth) return std::nullopt;
  const Sawtooth& tooth = *c.shapes.sawtooth;
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  finding.summary =
      fmt::format("steps grow slower and fall back by {} every {:.0f} steps, {} times",
                  percent(tooth.depth), tooth.steps, tooth.falls);
  finding.evidence.push_back(
      {c.curve.source, {}, fmt::format("the last fall: step {}", tooth.last_step)});
  std::string_view at;
  for (const std::string_view word : {"save", "checkpoint", "ckpt", "eval", "val", "gc"}) {
    const Setting* setting = c.around.interval_of(word);
    if (setting == nullptr) continue;
    const double every = static_cast<double>(parse_int(setting->value).value_or(0));
    if (std::abs(every - tooth.steps) > 0.02 * every + 1) continue;
    at = setting->key;
    finding.evidence.push_back(quoted(setting->seen));
    break;
  }
  if (!at.empty()) finding.summary += fmt::format(", as {} says", escape_controls(at, 60));
  finding.summary +=
      ": memory or caches that the save or a collection frees, or data sorted by length";
  finding.actions = {Action::collect_evidence};
  finding.next = fmt::format(
      "What happens every {:.0f} steps? Memory of the ranks and tokens a step over one tooth: the "
      "one "
      "that follows it is the cause; collect garbage at fixed steps, or shuffle the data.",
      tooth.steps);
  return finding;
}

namespace {

constexpr double kCollapse = 1.3;  // slower than this with scatter is hunger for data
constexpr double kScatterGrows = 3, kScatter = 0.02;

// Where the loader's time grew by what the step's time grew.
std::optional<double> loading_explains(const ShapeCase& c, const LevelChange& change) {
  std::vector<double> before, after, steps_before, steps_after;
  const std::size_t end = change.until.value_or(c.curve.points.size());
  for (std::size_t i = c.shapes.warm_up.points; i < end; ++i) {
    const CurvePoint& point = c.curve.points[i];
    if (std::isnan(point.loading_s) || std::isnan(point.step_s)) continue;
    (i < change.from ? before : after).push_back(point.loading_s);
    (i < change.from ? steps_before : steps_after).push_back(point.step_s);
  }
  if (before.empty() || after.empty() || !c.curve.seconds) return std::nullopt;
  const double grown = *median(steps_after) - *median(steps_before);
  return grown > 0 ? std::optional((*median(after) - *median(before)) / grown) : std::nullopt;
}

// By level, since neighbours of a slow piece may be slow pieces: back to within 1.5 % of before.
bool recovers(const ShapeCase& c, std::size_t k) {
  double ratio = 1;
  for (std::size_t i = k; i < c.shapes.changes.size(); ++i) {
    ratio *= c.shapes.changes[i].ratio;
    if (i > k && ratio < 1.015) return true;
  }
  return false;
}

Finding slower_since(const ShapeCase& c, const LevelChange& change, bool recovered) {
  const CurvePoint& point = c.curve.points[change.from];
  Finding finding;
  finding.severity = recovered ? Severity::info : Severity::warning;
  finding.confidence = Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  finding.actions = {recovered ? Action::watch : Action::collect_evidence};
  finding.summary =
      fmt::format("steps are {} slower since step {}", percent(change.ratio - 1), point.step);
  const bool at_restart =
      change.from > 0 && c.curve.points[change.from - 1].attempt != point.attempt;
  if (recovered) {
    const CurvePoint& end = c.curve.points[*change.until];
    finding.summary =
        fmt::format("steps were {} slower from step {} to {} ({})", percent(change.ratio - 1),
                    point.step, end.step, seconds_text(end.at_s - point.at_s));
    finding.summary +=
        ": congestion of a shared network, another tenant, or a clock limit that ended";
    finding.next =
        "Congestion counters of the NICs and throttle reasons over that time, if it comes "
        "again.";
  } else if (at_restart) {
    finding.summary +=
        ", where it was restarted: another host, other settings, or a link that came "
        "back slower";
    finding.next =
        "Compare the hosts and settings of both attempts; link rate and width, power limit "
        "and clocks of every host.";
  } else {
    finding.summary +=
        ", at once: a link at a lower rate, a power or clock limit on one GPU, another "
        "tenant, or slower data";
    finding.next =
        "Rate and width of every link, throttle reasons and power limit of every GPU, time "
        "of a step by rank, time that waits for data: which of them changed at that step?";
  }
  finding.evidence.push_back(seen_point(c, change.from, speed_text(c.curve, point.step_s)));
  return finding;
}

std::optional<Finding> starvation(const ShapeCase& c, const LevelChange& change, bool recovered) {
  const auto explained = loading_explains(c, change);
  const bool scatters = change.scatter >= std::max(kScatter, c.shapes.resolution) &&
                        change.scatter >= kScatterGrows * change.scatter_before;
  const bool waits = explained && *explained >= 0.6;
  if (!waits && (explained || !scatters || change.ratio < kCollapse)) return std::nullopt;
  Finding finding = slower_since(c, change, recovered);
  finding.severity = Severity::warning;
  finding.cause = Cause::data_starvation;
  finding.confidence = waits ? Confidence::high : Confidence::medium;
  const std::int64_t step = c.curve.points[change.from].step;
  finding.summary = fmt::format("speed falls to {} at step {}", percent(1 / change.ratio), step);
  finding.summary +=
      waits ? fmt::format(": {} of the lost time is waiting for data",
                          percent(std::min(1.0, *explained)))
            : fmt::format(
                  " and scatters ({} from step to step, {} before): the shape of ranks that "
                  "wait for data",
                  percent(change.scatter), percent(change.scatter_before));
  if (!c.around.data_path.empty()) {
    finding.evidence.push_back(quoted(*c.around.data_place));
    if (waits) finding.culprits = {{CulpritKind::file, c.around.data_path}};
  }
  finding.actions = {Action::speed_up_input, Action::collect_evidence};
  finding.next =
      "GPU power (uneven, near 0.6 of compute, is hunger), one core at 100 % (tokenizing in one "
      "thread), read rate of the data files and what else uses that server (a page cache that "
      "cooled); tokenize and pack before the run, read from local disk.";
  return finding;
}

}  // namespace

namespace {

// Where slow steps become more and more, the level moves with them.
bool in_growth(const ShapeCase& c, std::size_t index) {
  return std::any_of(c.shapes.attempts.begin(), c.shapes.attempts.end(),
                     [&](const AttemptTrend& trend) {
                       return trend.slow_grows && index >= trend.from && index < trend.end;
                     });
}

}  // namespace

std::vector<Finding> judge_changes(const ShapeCase& c) {
  constexpr std::size_t kTold = 3;  // changes; the first are those that somebody can act on
  std::vector<Finding> findings;
  for (std::size_t k = 0; k < c.shapes.changes.size() && findings.size() < kTold; ++k) {
    const LevelChange& change = c.shapes.changes[k];
    if (change.ratio <= 1 || in_growth(c, change.from)) continue;
    const bool recovered = recovers(c, k) && change.until;
    auto finding = starvation(c, change, recovered);
    // Back from a fast piece to the level of before is no news.
    const bool back = k > 0 && c.shapes.changes[k - 1].ratio * change.ratio < 1.015;
    if (!finding && back) continue;
    if (!finding) finding = slower_since(c, change, recovered);
    if (c.around.throttled && finding->cause == Cause::undetermined) {
      finding->evidence.push_back(quoted(*c.around.throttled));
    }
    findings.push_back(std::move(*finding));
  }
  return findings;
}

std::optional<Finding> judge_irregular(const ShapeCase& c) {
  constexpr double kCosts = 0.05;
  constexpr std::size_t kFewest = 10;
  std::vector<double> ratios, shares;
  std::map<std::int32_t, std::size_t> ranks;
  std::size_t first = c.curve.points.size();
  for (const SlowPoint& slow : c.shapes.slow) {
    if (slow.known) continue;
    first = std::min(first, slow.index);
    ratios.push_back(slow.ratio);
    if (!std::isnan(slow.loading_share)) shares.push_back(slow.loading_share);
    if (c.curve.points[slow.index].rank >= 0) ++ranks[c.curve.points[slow.index].rank];
  }
  if (ratios.size() < kFewest || c.shapes.slow_cost < kCosts || c.shapes.slow_period) {
    return std::nullopt;
  }
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = Confidence::medium;
  finding.cause = Cause::undetermined;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  finding.summary = fmt::format("{} of {} points are slow (x{:.2f}) without a rule, {} of the time",
                                ratios.size(), c.curve.points.size(), *median(ratios),
                                percent(c.shapes.slow_cost));
  finding.evidence.push_back(
      seen_point(c, first, speed_text(c.curve, c.curve.points[first].step_s)));
  finding.actions = {Action::collect_evidence};
  finding.next =
      "Time of a slow step by rank: another rank each time says garbage collection, one rank "
      "a sick host; time that waits for data; then a profile of slow steps.";
  if (median(shares).value_or(0) >= 0.6) {
    finding.cause = Cause::data_starvation;
    finding.confidence = Confidence::high;
    finding.summary += fmt::format(": {} of it waits for data", percent(*median(shares)));
    finding.actions = {Action::speed_up_input, Action::recheck};
  } else if (ranks.size() > 3) {
    std::size_t most = 0, all = 0;
    for (const auto& [rank, count] : ranks) most = std::max(most, count), all += count;
    if (most * 2 < all) {
      finding.cause = Cause::gc_pauses;
      finding.summary +=
          fmt::format(", on {} ranks in turn: pauses of garbage collection", ranks.size());
      finding.actions = {Action::coordinate_gc, Action::recheck};
    }
  }
  return finding;
}

}  // namespace muster::shape
