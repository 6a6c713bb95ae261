#include "core/shape/attempt_trends.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace muster::shape {
namespace {

constexpr std::size_t kFewestPoints = 40;
constexpr double kTrendSigmas = 5;  // of Kendall's tau; correlated noise makes 1.7 of 1
constexpr double kLeastSag = 0.03;
constexpr double kShareSigmas = 3.5;  // of the difference of two shares
constexpr double kLeastShare = 0.10;  // that the share of slow points must grow by
constexpr double kSecondsOfHour = 3600;

struct Taken {
  std::vector<double> hours, logs;
  std::vector<bool> slow;
};

void judge_level(const Taken& taken, AttemptTrend& trend) {
  std::vector<double> hours, logs;
  for (std::size_t i = 0; i < taken.logs.size(); ++i) {
    if (taken.slow[i]) continue;
    hours.push_back(taken.hours[i]);
    logs.push_back(taken.logs[i]);
  }
  if (logs.size() < kFewestPoints / 2) return;
  const std::size_t tenth = std::max<std::size_t>(5, logs.size() / 10);
  const std::span<const double> all(logs);
  trend.first_level = std::exp(*median(all.first(tenth)));
  trend.last_level = std::exp(*median(all.last(tenth)));
  trend.hours = hours.back() - hours.front();
  const auto slope = theil_sen(hours, logs);
  if (!slope || trend.hours <= 0) return;
  trend.per_hour = std::expm1(slope->per_x);
  trend.total = std::expm1(slope->per_x * trend.hours);
  trend.sags = trend.total >= kLeastSag && slope->trend_sigmas >= kTrendSigmas &&
               trend.last_level > trend.first_level * (1 + kLeastSag / 2);
}

// Whether a share of `n` is more than another by more than chance makes.
bool surely_more(double before, double after, double n) {
  const double both = (before + after) / 2;
  const double error = std::sqrt(2 * both * (1 - both) / n);
  return after - before >= kLeastShare && after - before >= kShareSigmas * error;
}

void judge_share(const Taken& taken, AttemptTrend& trend) {
  const std::size_t third = taken.slow.size() / 3;
  const auto n = static_cast<double>(third);
  const auto count = [&](std::size_t from) {
    return static_cast<double>(
        std::count(taken.slow.begin() + static_cast<std::ptrdiff_t>(from),
                   taken.slow.begin() + static_cast<std::ptrdiff_t>(from + third), true));
  };
  trend.slow_first = count(0) / n;
  trend.slow_last = count(taken.slow.size() - third) / n;
  trend.third = third;
  trend.slow_grows = surely_more(trend.slow_first, trend.slow_last, n);
}

// Attempts that are each too short to be sure of are judged together: what begins anew at every
// restart shows in the sum of them.
void judge_shares_together(std::vector<AttemptTrend>& trends) {
  double first = 0, last = 0, n = 0;
  std::size_t growing = 0;
  for (const AttemptTrend& trend : trends) {
    const auto third = static_cast<double>(trend.third);
    first += trend.slow_first * third;
    last += trend.slow_last * third;
    n += third;
    growing += trend.slow_last - trend.slow_first >= kLeastShare ? 1 : 0;
  }
  if (n <= 0 || growing < 2 || !surely_more(first / n, last / n, n)) return;
  for (AttemptTrend& trend : trends) {
    trend.slow_grows = trend.slow_grows || trend.slow_last - trend.slow_first >= kLeastShare;
  }
}

}  // namespace

std::vector<AttemptTrend> find_trends(const Curve& curve, const Shapes& shapes) {
  std::vector<bool> slow(curve.points.size(), false);
  for (const SlowPoint& point : shapes.slow) slow[point.index] = !point.known;
  std::vector<AttemptTrend> trends;
  std::size_t at = shapes.warm_up.points;
  while (at < curve.points.size()) {
    AttemptTrend trend;
    trend.attempt = curve.points[at].attempt;
    trend.from = at;
    Taken taken;
    for (; at < curve.points.size() && curve.points[at].attempt == trend.attempt; ++at) {
      const CurvePoint& point = curve.points[at];
      if (std::isnan(point.step_s) || point.after) continue;
      taken.hours.push_back(point.at_s / kSecondsOfHour);
      taken.logs.push_back(std::log(point.step_s));
      taken.slow.push_back(slow[at]);
    }
    trend.end = at;
    if (taken.logs.size() >= kFewestPoints) {
      judge_level(taken, trend);
      judge_share(taken, trend);
    }
    trends.push_back(trend);
  }
  judge_shares_together(trends);
  return trends;
}

}  // namespace muster::shape
