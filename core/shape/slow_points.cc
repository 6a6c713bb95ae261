#include "core/shape/slow_points.h"

#include <algorithm>
#include <cmath>

namespace muster::shape {
namespace {

constexpr std::size_t kBlock = 50;        // points that share a level, taken over three blocks
constexpr std::size_t kFewestPoints = 8;  // fewer have no level
constexpr double kSigmas = 5, kLeastRatio = 1.03, kSigmaFloor = 0.003;

struct Piece {
  std::size_t begin = 0, end = 0;  // into `where`
};

// The points of one level: an attempt, cut at changes of level.
std::vector<Piece> pieces_of(const Curve& curve, std::span<const std::size_t> where,
                             std::span<const std::size_t> cuts) {
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= where.size(); ++i) {
    const bool end = i == where.size();
    const bool cut =
        !end && (curve.points[where[i]].attempt != curve.points[where[i - 1]].attempt ||
                 std::binary_search(cuts.begin(), cuts.end(), where[i]));
    if (!end && !cut) continue;
    pieces.push_back({begin, i});
    begin = i;
  }
  return pieces;
}

void judge_block(const Curve& curve, std::span<const std::size_t> where, const FastPart& fast,
                 double resolution, std::vector<SlowPoint>& out) {
  const double floor = std::max(kSigmaFloor, 0.41 * resolution) * fast.level;
  const double sigma = std::max(fast.sigma, floor);
  const double limit = std::max({fast.level + kSigmas * sigma, fast.level * kLeastRatio,
                                 fast.level * (1 + 2.5 * resolution)});
  for (const std::size_t index : where) {
    const CurvePoint& point = curve.points[index];
    if (point.step_s <= limit) continue;
    SlowPoint slow;
    slow.index = index;
    slow.ratio = point.step_s / fast.level;
    slow.extra = point.step_s - fast.level;
    if (curve.seconds && !std::isnan(point.loading_s)) {
      slow.loading_share = std::min(1.0, point.loading_s / slow.extra);
    }
    slow.known = point.after;
    out.push_back(slow);
  }
}

std::optional<Period> period_of(const Curve& curve, std::vector<std::size_t> points) {
  // What follows at once is the same event.
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 0 || points[i] != points[i - 1] + 1) begins.push_back(points[i]);
  }
  points = std::move(begins);
  std::vector<double> steps;
  for (const std::size_t i : points) {
    const auto step = static_cast<double>(curve.points[i].step);
    if (!steps.empty() && step <= steps.back()) return std::nullopt;  // a restart went back
    steps.push_back(step);
  }
  const auto regular = regular_period(steps);
  if (!regular || regular->period < 2) return std::nullopt;
  Period period;
  period.steps = regular->period;
  period.deviation = regular->deviation;
  period.seconds = curve.typical_step_s ? *curve.typical_step_s * regular->period : 0;
  const double span = curve.points[points.back()].at_s - curve.points[points.front()].at_s;
  const double walked = steps.back() - steps.front();
  if (curve.typical_step_s && walked > 0) period.seconds = span / walked * regular->period;
  period.points = std::move(points);
  return period;
}

}  // namespace

std::vector<SlowPoint> find_slow_points(const Curve& curve, std::size_t begin,
                                        std::span<const std::size_t> cuts, double resolution) {
  std::vector<std::size_t> where;
  for (std::size_t i = begin; i < curve.points.size(); ++i) {
    if (!std::isnan(curve.points[i].step_s)) where.push_back(i);
  }
  std::vector<SlowPoint> out;
  std::vector<double> values;
  const std::span<const std::size_t> all(where);
  for (const Piece& piece : pieces_of(curve, where, cuts)) {
    if (piece.end - piece.begin < kFewestPoints) continue;
    for (std::size_t at = piece.begin; at < piece.end; at += kBlock) {
      const std::size_t from = at >= piece.begin + kBlock ? at - kBlock : piece.begin;
      const std::size_t end = std::min(piece.end, at + 2 * kBlock);
      values.clear();
      for (std::size_t i = from; i < end; ++i) values.push_back(curve.points[where[i]].step_s);
      judge_block(curve, all.subspan(at, std::min(kBlock, piece.end - at)), *fast_part(values),
                  resolution, out);
    }
  }
  return out;
}

std::vector<Pause> find_pauses(const Curve& curve) {
  std::vector<Pause> out;
  if (curve.measure == Measure::stamps || !curve.typical_step_s || curve.stamp_resolution_s <= 0) {
    return out;
  }
  std::vector<double> per_step;
  for (const CurvePoint& point : curve.points) {
    if (!std::isnan(point.interval_s)) {
      per_step.push_back(point.interval_s / static_cast<double>(point.steps));
    }
  }
  const auto fast = fast_part(per_step);
  if (!fast) return out;
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (std::isnan(point.interval_s) || point.attempt != curve.points[i - 1].attempt) continue;
    const auto steps = static_cast<double>(point.steps);
    double busy = *curve.typical_step_s * steps;
    if (curve.seconds && !std::isnan(point.step_s)) busy = std::max(busy, point.step_s * steps);
    const double extra = point.interval_s - busy;
    const double least = std::max(
        {*curve.typical_step_s, 2.5 * curve.stamp_resolution_s, kSigmas * fast->sigma * steps});
    if (extra > least) out.push_back({i, extra, point.after});
  }
  return out;
}

std::optional<Period> period_of_slow(const Curve& curve, std::span<const SlowPoint> slow,
                                     const WarmUp& warm_up) {
  std::vector<std::size_t> points;
  std::vector<double> ratios, extras, shares;
  for (const SlowPoint& one : slow) {
    if (one.known) continue;
    points.push_back(one.index);
    ratios.push_back(one.ratio);
    extras.push_back(one.extra);
    if (!std::isnan(one.loading_share)) shares.push_back(one.loading_share);
  }
  auto period = period_of(curve, points);
  if (warm_up.points == 1 && !points.empty() && points.size() < 8) {
    points.insert(points.begin(), 0);
    if (auto with_first = period_of(curve, points)) period = std::move(with_first);
  }
  if (!period) return std::nullopt;
  period->ratio = *median(ratios);
  period->extra = *median(extras);
  period->loading_share = median(shares).value_or(kNone);
  return period;
}

std::optional<Period> period_of_pauses(const Curve& curve, std::span<const Pause> pauses) {
  std::vector<std::size_t> points;
  std::vector<double> seconds;
  for (const Pause& pause : pauses) {
    if (pause.known) continue;
    points.push_back(pause.index);
    seconds.push_back(pause.seconds);
  }
  auto period = period_of(curve, points);
  if (!period) return std::nullopt;
  period->extra = *median(seconds);
  period->of_pauses = true;
  return period;
}

}  // namespace muster::shape
