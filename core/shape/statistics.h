#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

// Robust statistics of short series. Every function copies what it must order; NaN is not allowed.

namespace muster::shape {

// 0 <= q <= 1, between neighbours by weight; nothing of an empty series.
std::optional<double> quantile(std::span<const double> values, double q);
inline std::optional<double> median(std::span<const double> values) {
  return quantile(values, 0.5);
}

// Level and spread of the fast part of a series: the 30 % quantile and the distance of it to the 5
// % quantile in standard deviations of a normal distribution. Up to half of the values may be slow
// without moving them much, which a median does not stand.
struct FastPart {
  double level = 0;
  double sigma = 0;
};
std::optional<FastPart> fast_part(std::span<const double> values);

// Level and spread by median and MAD (1.4826 MAD is a standard deviation of a normal distribution).
struct Spread {
  double centre = 0;
  double sigma = 0;
};
std::optional<Spread> spread_of(std::span<const double> values);

// Correlation of neighbours after outliers were clipped to 3 sigma; within [0, 0.9]. A negative one
// counts as none: it makes alarms rarer, not more frequent.
double neighbour_correlation(std::span<const double> values, const Spread& spread);

// Median of the slopes of all pairs (Theil 1950, Sen 1968), of at most 200 points: longer series
// are thinned to medians of equal blocks. `x` rises.
struct Slope {
  double per_x = 0;
  double at_start = 0;  // the line at the first x
  // Kendall's tau between x and y in standard deviations of chance: 0 where there is no trend.
  double trend_sigmas = 0;
  std::size_t points = 0;
};
std::optional<Slope> theil_sen(std::span<const double> x, std::span<const double> y);

// Intervals of events (steps, rising): regular where the median deviation from their median is at
// most 10 % of it. At least 5 events; below 8 of them every interval has to be within 15 %: four
// intervals of chance are that regular once in a thousand.
struct Regularity {
  double period = 0;
  double deviation = 0;  // MAD / median
};
std::optional<Regularity> regular_period(std::span<const double> events);

}  // namespace muster::shape
