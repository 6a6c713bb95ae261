#include "core/shape/curve.h"

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "base/text.h"
#include "core/shape/statistics.h"

namespace muster::shape {
namespace {

constexpr double kDayS = 86400;

double value_or_none(const std::optional<double>& value) {
  return value ? *value : kNone;
}

void keep_greater(double& slot, const std::optional<double>& value) {
  if (value && (std::isnan(slot) || *value > slot)) slot = *value;
}

// Of what stands between two steps the pause that explains most: a restart, a save, an evaluation.
int weight(ProgressKind kind) {
  switch (kind) {
    case ProgressKind::restarted:
      return 5;
    case ProgressKind::save_begin:
    case ProgressKind::save_end:
      return 4;
    case ProgressKind::eval_begin:
    case ProgressKind::eval_end:
      return 3;
    case ProgressKind::compile:
    case ProgressKind::startup:
      return 2;
    case ProgressKind::epoch_end:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

void CurveBuilder::open(const StepRecord& record) {
  if (raws_.size() >= limits::kCurvePoints) {
    ++dropped_;
    return;
  }
  Raw raw;
  raw.step = record.step;
  raw.step_s = value_or_none(record.step_s);
  raw.tokens_per_s = value_or_none(record.tokens_per_s);
  raw.mfu_ratio = value_or_none(record.mfu_ratio);
  raw.loading_s = value_or_none(record.loading_s);
  if (record.at) {
    raw.clock_s = duration_to_seconds(record.at->time_since_epoch());
    raw.dated = record.at_has_date;
  } else {
    raw.clock_s = value_or_none(record.elapsed_s);
  }
  raw.line = record.line;
  raw.rank = record.rank.value_or(-1);
  raw.attempt = attempt_;
  raw.after = pending_;
  pending_.reset();
  raws_.push_back(raw);
}

// Another line of the same step: of another rank, or with more values. The slowest rank makes the
// step.
void CurveBuilder::merge(const StepRecord& record) {
  Raw& raw = raws_.back();
  if (record.step_s && record.rank && !(raw.step_s >= *record.step_s)) raw.rank = *record.rank;
  keep_greater(raw.step_s, record.step_s);
  keep_greater(raw.loading_s, record.loading_s);
  if (std::isnan(raw.tokens_per_s)) raw.tokens_per_s = value_or_none(record.tokens_per_s);
  if (std::isnan(raw.mfu_ratio)) raw.mfu_ratio = value_or_none(record.mfu_ratio);
}

void CurveBuilder::step(const StepRecord& record) {
  if (record.target_step) target_ = record.target_step;
  if (dropped_ > 0) {
    ++dropped_;
    return;
  }
  if (!raws_.empty() && !restarted_) {
    const std::int64_t last = raws_.back().step;
    if (record.step == last) return merge(record);
    // Ranks write at different speeds: a rank that repeats the step of a moment ago is late.
    if (record.step < last) {
      const bool late = record.rank && raws_.back().rank >= 0 &&
                        *record.rank != raws_.back().rank && last - record.step <= 2;
      if (late) return;
      ++attempt_;
      if (!pending_) pending_ = ProgressKind::restarted;
    }
  }
  restarted_ = false;
  finished_ = false;
  open(record);
}

void CurveBuilder::event(const ProgressEvent& event) {
  ++counts_[static_cast<std::size_t>(event.kind)];
  if (event.kind == ProgressKind::finished) finished_ = true;
  if (event.kind == ProgressKind::save_known || event.kind == ProgressKind::finished ||
      event.kind == ProgressKind::monitor_stuck || event.kind == ProgressKind::error) {
    return;
  }
  if (!pending_ || weight(event.kind) > weight(*pending_)) pending_ = event.kind;
  if (event.kind == ProgressKind::restarted && !raws_.empty() && !restarted_) {
    ++attempt_;
    restarted_ = true;
  }
  if (events_.size() >= limits::kCurveEvents) return;
  events_.push_back({event.kind, raws_.size(), event.duration,
                     std::string(whole_characters(event.text, limits::kEvidenceChars)),
                     event.line});
}

bool CurveBuilder::continued_by(const CurveBuilder& next) const {
  if (raws_.empty() || next.raws_.empty()) return false;
  const std::int64_t first = raws_.front().step, last = raws_.back().step;
  const std::int64_t next_first = next.raws_.front().step, next_last = next.raws_.back().step;
  // Behind the end only by what a log that was cut may lack.
  constexpr std::int64_t kLost = 100;
  return next_first > first && next_first <= last + kLost && next_last > last;
}

void CurveBuilder::append(CurveBuilder&& next) {
  const std::uint32_t later = attempt_ + 1;
  const std::size_t room = limits::kCurvePoints - std::min(limits::kCurvePoints, raws_.size());
  const std::size_t taken = std::min(room, next.raws_.size());
  const std::size_t before = raws_.size();
  for (std::size_t i = 0; i < taken; ++i) {
    Raw raw = next.raws_[i];
    raw.attempt += later;
    if (i == 0) raw.after = ProgressKind::restarted;
    raws_.push_back(raw);
  }
  for (CurveEvent& event : next.events_) {
    if (events_.size() >= limits::kCurveEvents) break;
    event.before += before;
    events_.push_back(std::move(event));
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += next.counts_[i];
  dropped_ += next.dropped_ + next.raws_.size() - taken;
  attempt_ = later + next.attempt_;
  if (next.target_) target_ = next.target_;
  finished_ = next.finished_;
  next = CurveBuilder();
}

// The first of the measures that nine of ten points tell: what is printed in seconds, then a rate
// that moves at all, then the clocks.
void CurveBuilder::choose_measure(Curve& curve) const {
  std::size_t timed = 0, rated = 0, used = 0, stamped = 0;
  double low = 0, high = 0;
  for (std::size_t i = 0; i < raws_.size(); ++i) {
    const Raw& raw = raws_[i];
    timed += std::isnan(raw.step_s) ? 0 : 1;
    stamped += i == 0 || std::isnan(curve.points[i].interval_s) ? 0 : 1;
    used += raw.mfu_ratio > 0 ? 1 : 0;
    if (!(raw.tokens_per_s > 0)) continue;
    low = rated == 0 ? raw.tokens_per_s : std::min(low, raw.tokens_per_s);
    high = std::max(high, raw.tokens_per_s);
    ++rated;
  }
  const std::size_t enough = std::max<std::size_t>(1, raws_.size() * 9 / 10);
  const bool fine_clock = curve.typical_step_s && curve.stamp_resolution_s > 0 &&
                          curve.stamp_resolution_s <= 0.02 * *curve.typical_step_s;
  if (timed >= enough) {
    curve.measure = Measure::step_time;
  } else if (rated >= enough && (high > low || !fine_clock)) {
    curve.measure = Measure::throughput;
  } else if (stamped + 2 >= enough && stamped > 0) {
    curve.measure = Measure::stamps;
  } else if (rated >= enough) {
    curve.measure = Measure::throughput;
  } else if (used >= enough) {
    curve.measure = Measure::mfu;
  } else if (timed * 2 >= raws_.size() && timed > 0) {
    curve.measure = Measure::step_time;
  }
  curve.seconds = curve.measure == Measure::step_time || curve.measure == Measure::stamps;
}

// Differences of clocks are made inside an attempt only. A bare clock that falls by half a day has
// passed midnight; any other step back makes no difference at all.
void CurveBuilder::set_clocks(Curve& curve) {
  bool whole = true;
  std::vector<double> per_step;
  for (std::size_t i = 0; i < raws_.size(); ++i) {
    const Raw& raw = raws_[i];
    if (i == 0) continue;
    const Raw& before = raws_[i - 1];
    double between = raw.clock_s - before.clock_s;
    if (std::isnan(between) || raw.dated != before.dated) continue;
    if (!raw.dated && between < -kDayS / 2) between += kDayS;
    if (between < 0) continue;
    // A fraction that never changes is none.
    if (std::abs(between - std::round(between)) > 1e-6) whole = false;
    CurvePoint& point = curve.points[i];
    point.interval_s = between;
    if (raw.attempt == before.attempt) {
      per_step.push_back(between / static_cast<double>(point.steps));
    }
  }
  if (per_step.empty()) return;
  curve.stamp_resolution_s = whole ? 1 : 0.001;
  const double typical = *median(per_step);
  if (typical > 0) curve.typical_step_s = typical;
}

void CurveBuilder::set_speeds(Curve& curve) const {
  std::vector<double> printed;
  for (std::size_t i = 0; i < raws_.size(); ++i) {
    const Raw& raw = raws_[i];
    CurvePoint& point = curve.points[i];
    switch (curve.measure) {
      case Measure::step_time:
        point.step_s = raw.step_s;
        break;
      case Measure::throughput:
        if (raw.tokens_per_s > 0) point.step_s = 1 / raw.tokens_per_s;
        break;
      case Measure::mfu:
        if (raw.mfu_ratio > 0) point.step_s = 1 / raw.mfu_ratio;
        break;
      case Measure::stamps:
        if (i > 0 && raw.attempt == raws_[i - 1].attempt && point.interval_s > 0) {
          point.step_s = point.interval_s / static_cast<double>(point.steps);
        }
        break;
      case Measure::none:
        break;
    }
    if (!std::isnan(raw.step_s)) printed.push_back(raw.step_s);
  }
  if (!curve.typical_step_s) curve.typical_step_s = median(printed);
  double at = 0;
  for (CurvePoint& point : curve.points) {
    if (&point != &curve.points.front()) {
      const double step = curve.seconds && !std::isnan(point.step_s)
                              ? point.step_s
                              : curve.typical_step_s.value_or(1);
      at +=
          std::isnan(point.interval_s) ? step * static_cast<double>(point.steps) : point.interval_s;
    }
    point.at_s = at;
  }
}

Curve CurveBuilder::finish(std::string source, const std::set<std::int64_t>& restart_steps) {
  Curve curve;
  curve.source = std::move(source);
  std::uint32_t more = 0, seen = 0;  // `seen`: the attempt of the point before, as counted here
  for (std::size_t i = 0; i < raws_.size(); ++i) {
    Raw& raw = raws_[i];
    bool told = false;
    if (i > 0 && seen == raw.attempt) {
      const auto next = restart_steps.upper_bound(raws_[i - 1].step);
      told = next != restart_steps.end() && *next <= raw.step;
    }
    seen = raw.attempt;
    if (told) {
      ++more;
      raw.after = ProgressKind::restarted;
    }
    raw.attempt += more;
    CurvePoint point;
    point.step = raw.step;
    const bool same = i > 0 && raws_[i - 1].attempt == raw.attempt;
    point.steps = same ? std::max<std::int64_t>(1, raw.step - raws_[i - 1].step) : 1;
    point.loading_s = raw.loading_s;
    point.tokens_per_s = raw.tokens_per_s;
    point.mfu_ratio = raw.mfu_ratio;
    point.line = raw.line;
    point.rank = raw.rank;
    point.attempt = raw.attempt;
    point.after = raw.after;
    curve.points.push_back(point);
  }
  curve.attempts = raws_.empty() ? 1 : raws_.back().attempt + 1;
  set_clocks(curve);
  choose_measure(curve);
  set_speeds(curve);
  curve.events = std::move(events_);
  curve.counts = counts_;
  curve.target_step = target_;
  curve.dropped = dropped_;
  curve.finished = finished_;
  *this = CurveBuilder();
  return curve;
}

}  // namespace muster::shape
