#include "core/shape/sawtooth.h"

#include <algorithm>
#include <cmath>

namespace muster::shape {
namespace {

constexpr std::size_t kSide = 5;
constexpr double kLeastFall = 0.02, kErrors = 5;

// Noise of single points, from differences of neighbours: slow growth does not add to it.
double noise_of(std::span<const double> logs) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < logs.size(); ++i) differences.push_back(logs[i] - logs[i - 1]);
  const auto spread = spread_of(differences);
  return spread ? spread->sigma / std::sqrt(2.0) : 0;
}

struct Fall {
  std::size_t at = 0;
  double depth = 0;
};

// Where the level falls most within 2 kSide points, and by enough.
std::vector<Fall> falls_of(std::span<const double> logs) {
  // A median of five knows its level to 0.54 sigma; neighbours that correlate hide some of the
  // noise from noise_of, which the second factor gives back.
  const double error = 0.54 * std::sqrt(2.0) * 1.5 * noise_of(logs);
  const double least = std::max(kLeastFall, kErrors * error);
  std::vector<Fall> falls;
  for (std::size_t i = kSide; i + kSide <= logs.size(); ++i) {
    const double depth = *median(logs.subspan(i - kSide, kSide)) - *median(logs.subspan(i, kSide));
    if (depth < least) continue;
    if (!falls.empty() && i - falls.back().at < 2 * kSide) {
      if (depth > falls.back().depth) falls.back() = {i, depth};
    } else {
      falls.push_back({i, depth});
    }
  }
  return falls;
}

}  // namespace

std::optional<Sawtooth> find_sawtooth(const Curve& curve, std::span<const std::size_t> where) {
  std::vector<double> logs, steps, depths;
  for (const std::size_t i : where) logs.push_back(std::log(curve.points[i].step_s));
  std::vector<double> rises;
  std::size_t before = 0;
  for (const Fall& fall : falls_of(logs)) {
    const std::size_t point = where[fall.at];
    const auto step = static_cast<double>(curve.points[point].step);
    if (!steps.empty() && step <= steps.back()) return std::nullopt;  // a restart went back
    const bool restarted = curve.points[where[fall.at - 1]].attempt != curve.points[point].attempt;
    if (restarted) continue;
    // From one fall to the next the level has to climb, not to jump: half way up it is half high.
    if (!steps.empty()) {
      const std::span<const double> tooth = std::span(logs).subspan(before, fall.at - before);
      const std::size_t third = tooth.size() / 3;
      const double low = *median(tooth.first(third + 1)), high = *median(tooth.last(third + 1));
      const double middle = *median(tooth.subspan(third, third + 1));
      const bool climbs =
          high > low && middle > low + 0.2 * (high - low) && middle < low + 0.8 * (high - low);
      if (climbs) rises.push_back(high - low);
    }
    steps.push_back(step);
    depths.push_back(fall.depth);
    before = fall.at;
  }
  const auto regular = regular_period(steps);
  if (!regular || rises.size() * 2 < steps.size()) return std::nullopt;
  Sawtooth out;
  out.steps = regular->period;
  out.depth = std::expm1(*median(depths));
  out.falls = steps.size();
  out.last_step = static_cast<std::int64_t>(steps.back());
  return out;
}

}  // namespace muster::shape
