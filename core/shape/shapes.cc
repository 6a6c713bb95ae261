#include "core/shape/shapes.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/shape/attempt_trends.h"
#include "core/shape/level_changes.h"
#include "core/shape/sawtooth.h"
#include "core/shape/slow_points.h"

namespace muster::shape {
namespace {

// A log with points every 10 steps may warm up over its first 30 of them; more is no warm-up.
constexpr std::size_t kWarmUpPoints = 30;
constexpr double kWarmUpRatio = 1.25;
constexpr std::size_t kSettlesIn = 5;  // points that must be there behind it

// Leading points above the level that follows.
WarmUp find_warm_up(const Curve& curve) {
  std::vector<double> values;
  std::vector<std::size_t> where;
  for (std::size_t i = 0; i < curve.points.size() && values.size() < 4 * kWarmUpPoints; ++i) {
    if (std::isnan(curve.points[i].step_s) || curve.points[i].attempt > 0) continue;
    values.push_back(curve.points[i].step_s);
    where.push_back(i);
  }
  WarmUp warm;
  if (values.empty()) return warm;
  const std::size_t skip = std::min(kWarmUpPoints, values.size() / 2);
  const double level = *quantile(std::span<const double>(values).subspan(skip), 0.4);
  std::size_t slow = 0;
  while (slow < skip && values[slow] > kWarmUpRatio * level) {
    warm.ratio = std::max(warm.ratio, values[slow] / level);
    const auto steps = static_cast<double>(curve.points[where[slow]].steps);
    warm.extra += (values[slow] - level) * steps;
    ++slow;
  }
  if (slow == skip && skip > 0 && slow > values.size() / 3) return {};  // slow from start to end
  warm.over = values.size() >= slow + kSettlesIn;
  warm.points = slow > 0 ? where[slow - 1] + 1 : 0;
  if (warm.points == 0) return {0, 1, 0, warm.over};
  return warm;
}

// Points that tell the speed of steps in swing: not the warm-up, and not the first point behind a
// pause that the log explains, which a restart or a cold cache slows.
std::vector<std::size_t> steady_points(const Curve& curve, const WarmUp& warm) {
  std::vector<std::size_t> out;
  for (std::size_t i = warm.points; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (!std::isnan(point.step_s) && !point.after) out.push_back(i);
  }
  return out;
}

// Those of steady_points and those behind a pause: at a save the tooth falls.
std::vector<std::size_t> sawtooth_points(const Curve& curve, const WarmUp& warm) {
  std::vector<std::size_t> out;
  for (std::size_t i = warm.points; i < curve.points.size(); ++i) {
    if (!std::isnan(curve.points[i].step_s)) out.push_back(i);
  }
  return out;
}

std::vector<double> speeds(const Curve& curve, std::span<const std::size_t> where) {
  std::vector<double> out;
  out.reserve(where.size());
  for (const std::size_t i : where) out.push_back(curve.points[i].step_s);
  return out;
}

// Relative width of one digit of a clock that measures steps.
double resolution_of(const Curve& curve) {
  if (curve.measure != Measure::stamps || curve.points.empty()) return 0;
  std::vector<double> intervals;
  for (const CurvePoint& point : curve.points) {
    if (!std::isnan(point.interval_s)) intervals.push_back(point.interval_s);
  }
  const auto typical = median(intervals);
  return typical && *typical > 0 ? curve.stamp_resolution_s / *typical : 0;
}

double loading_share_of(const Curve& curve, std::size_t from) {
  std::vector<double> shares;
  for (std::size_t i = from; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (!curve.seconds || std::isnan(point.loading_s) || !(point.step_s > 0)) continue;
    shares.push_back(std::min(1.0, point.loading_s / point.step_s));
  }
  return median(shares).value_or(kNone);
}

// Time that slow points took beyond their level.
double cost_of(const Curve& curve, std::span<const SlowPoint> slow) {
  double all = 0, lost = 0;
  for (const CurvePoint& point : curve.points) {
    if (!std::isnan(point.step_s)) all += point.step_s * static_cast<double>(point.steps);
  }
  for (const SlowPoint& point : slow) {
    lost += point.extra * static_cast<double>(curve.points[point.index].steps);
  }
  return all > 0 ? lost / all : 0;
}

}  // namespace

Shapes find_shapes(const Curve& curve) {
  Shapes shapes;
  shapes.warm_up = find_warm_up(curve);
  const std::vector<std::size_t> steady = steady_points(curve, shapes.warm_up);
  const std::vector<double> values = speeds(curve, steady);
  shapes.judged = values.size();
  if (values.empty()) return shapes;
  const double resolution = resolution_of(curve);
  shapes.resolution = resolution;
  shapes.median = *median(values);
  const FastPart fast = *fast_part(values);
  shapes.level = fast.level;
  shapes.scatter = fast.level > 0 ? fast.sigma / fast.level : 0;

  shapes.changes = find_level_changes(values, resolution);
  std::vector<std::size_t> cuts;  // indices of points at which another level begins
  for (LevelChange& change : shapes.changes) {
    change.from = steady[change.from];
    if (change.until) change.until = steady[*change.until];
    cuts.push_back(change.from);
  }
  const std::size_t first_end =
      cuts.empty()
          ? values.size()
          : static_cast<std::size_t>(std::lower_bound(steady.begin(), steady.end(), cuts.front()) -
                                     steady.begin());
  shapes.first_level = *median(std::span<const double>(values).first(first_end));
  shapes.slow = find_slow_points(curve, shapes.warm_up.points, cuts, resolution);
  shapes.pauses = find_pauses(curve);
  shapes.sawtooth = find_sawtooth(curve, sawtooth_points(curve, shapes.warm_up));
  shapes.slow_cost = cost_of(curve, shapes.slow);
  shapes.slow_period = period_of_slow(curve, shapes.slow, shapes.warm_up);
  shapes.pause_period = period_of_pauses(curve, shapes.pauses);
  shapes.attempts = find_trends(curve, shapes);
  shapes.loading_share = loading_share_of(curve, shapes.warm_up.points);
  return shapes;
}

}  // namespace muster::shape
