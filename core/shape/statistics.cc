#include "core/shape/statistics.h"

#include <algorithm>
#include <cmath>

namespace muster::shape {
namespace {

constexpr double kMadToSigma = 1.4826;
constexpr std::size_t kMostPoints = 200;  // 19,900 pairs

// Medians of equal blocks.
std::vector<double> thinned(std::span<const double> values, std::size_t block) {
  std::vector<double> out;
  for (std::size_t at = 0; at + block <= values.size(); at += block) {
    out.push_back(*median(values.subspan(at, block)));
  }
  return out;
}

}  // namespace

std::optional<double> quantile(std::span<const double> values, double q) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(low);
  std::nth_element(sorted.begin(), at, sorted.end());
  const double below = *at;
  if (low + 1 == sorted.size()) return below;
  const double above = *std::min_element(at + 1, sorted.end());
  return below + (above - below) * (place - static_cast<double>(low));
}

std::optional<FastPart> fast_part(std::span<const double> values) {
  const auto level = quantile(values, 0.30), low = quantile(values, 0.05);
  if (!level || !low) return std::nullopt;
  constexpr double kBetween = 1.645 - 0.524;  // of the two quantiles, in sigmas
  return FastPart{*level, (*level - *low) / kBetween};
}

std::optional<Spread> spread_of(std::span<const double> values) {
  const auto centre = median(values);
  if (!centre) return std::nullopt;
  std::vector<double> off(values.begin(), values.end());
  for (double& value : off) value = std::abs(value - *centre);
  return Spread{*centre, kMadToSigma * *median(off)};
}

double neighbour_correlation(std::span<const double> values, const Spread& spread) {
  if (values.size() < 3 || spread.sigma <= 0) return 0;
  double product = 0, square = 0;
  double before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double z = std::clamp((values[i] - spread.centre) / spread.sigma, -3.0, 3.0);
    if (i > 0) product += z * before;
    square += z * z;
    before = z;
  }
  return square > 0 ? std::clamp(product / square, 0.0, 0.9) : 0;
}

std::optional<Slope> theil_sen(std::span<const double> x, std::span<const double> y) {
  const std::size_t n = std::min(x.size(), y.size());
  if (n < 3) return std::nullopt;
  const std::size_t block = (n + kMostPoints - 1) / kMostPoints;
  const std::vector<double> xs = thinned(x.first(n), block), ys = thinned(y.first(n), block);
  std::vector<double> slopes;
  slopes.reserve(xs.size() * xs.size() / 2);
  double concordant = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    for (std::size_t k = i + 1; k < xs.size(); ++k) {
      if (xs[k] <= xs[i]) continue;
      slopes.push_back((ys[k] - ys[i]) / (xs[k] - xs[i]));
      concordant += ys[k] > ys[i] ? 1 : (ys[k] < ys[i] ? -1 : 0);
    }
  }
  if (slopes.empty()) return std::nullopt;
  Slope slope;
  slope.per_x = *median(slopes);
  slope.at_start = *median(ys) + slope.per_x * (xs.front() - *median(xs));
  const auto m = static_cast<double>(xs.size());
  slope.trend_sigmas = concordant / std::sqrt(m * (m - 1) * (2 * m + 5) / 18);
  slope.points = xs.size();
  return slope;
}

std::optional<Regularity> regular_period(std::span<const double> events) {
  constexpr std::size_t kFewest = 5, kMany = 8;
  if (events.size() < kFewest) return std::nullopt;
  std::vector<double> intervals;
  for (std::size_t i = 1; i < events.size(); ++i) intervals.push_back(events[i] - events[i - 1]);
  const auto spread = spread_of(intervals);
  if (!spread || spread->centre <= 0) return std::nullopt;
  const Regularity found{spread->centre, spread->sigma / kMadToSigma / spread->centre};
  if (found.deviation > 0.10) return std::nullopt;
  const bool all_close = std::all_of(intervals.begin(), intervals.end(), [&](double interval) {
    return std::abs(interval - found.period) <= 0.15 * found.period;
  });
  if (events.size() < kMany && !all_close) return std::nullopt;
  return found;
}

}  // namespace muster::shape
