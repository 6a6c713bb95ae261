#include "core/shape/level_changes.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace muster::shape {
namespace {

constexpr double kClip = 4, kSlack = 1, kAlarm = 10;  // of z: clip, k, h
constexpr double kSigmaFloor = 0.003;
constexpr std::size_t kFewest = 20, kMost = 200;  // points of a baseline
constexpr std::size_t kAround = 100;              // points compared on each side
constexpr std::size_t kLastsPoints = 6;           // fewer slow steps are slow steps, no level
constexpr double kLeastChange = 0.02;
constexpr double kErrors = 3;

struct Baseline {
  double level = 0;
  double scale = 1;  // one standard deviation, widened for correlated noise
  double alarm = kAlarm;
  bool known = false;
};

// Of logarithms. A short baseline knows its own spread badly, so it needs more to be sure.
Baseline learn(std::span<const double> logs, double resolution) {
  const Spread spread = *spread_of(logs);
  const double floor = std::max(kSigmaFloor, 0.41 * resolution);
  const double sigma = std::max(spread.sigma, floor);
  const auto n = static_cast<double>(logs.size());
  const double r = std::min(0.9, neighbour_correlation(logs, {spread.centre, sigma}) + 4 / n);
  return {spread.centre, sigma * std::sqrt((1 + r) / (1 - r)), kAlarm * (1 + 20 / n), true};
}

// A step between two flat pieces explains the points around `at` better than a straight line does.
bool is_step(std::span<const double> logs, std::size_t begin, std::size_t at, std::size_t end) {
  const auto before = logs.subspan(begin, at - begin), after = logs.subspan(at, end - at);
  const double low = *median(before), high = *median(after);
  std::vector<double> x(end - begin);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const auto line = theil_sen(x, logs.subspan(begin, end - begin));
  if (!line) return true;
  std::vector<double> level(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) level[i] = logs[begin + i] - line->per_x * x[i];
  const double start = *median(level);
  double off_line = 0, off_step = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    off_line += std::abs(level[i] - start);
    off_step += std::abs(logs[begin + i] - (begin + i < at ? low : high));
  }
  return off_step < off_line;
}

struct Pieces {
  FastPart before, after;
};

// The fast parts on both sides of `at`, if they differ by enough and for long enough.
std::optional<Pieces> verify(std::span<const double> logs, std::size_t begin, std::size_t at,
                             double scale) {
  const std::size_t left = std::max(begin, at > kAround ? at - kAround : 0);
  if (at - left < kLastsPoints) return std::nullopt;
  const std::size_t available = std::min(logs.size() - at, kAround);
  if (available < kLastsPoints) return std::nullopt;
  for (const std::size_t width : {std::size_t{10}, std::size_t{25}, kAround}) {
    const std::size_t taken = std::min(width, available);
    const FastPart before = *fast_part(logs.subspan(left, at - left));
    const FastPart after = *fast_part(logs.subspan(at, taken));
    const double error =
        1.3 * scale *
        std::sqrt(1 / static_cast<double>(at - left) + 1 / static_cast<double>(taken));
    const double least = std::max(kLeastChange, kErrors * error);
    if (std::abs(after.level - before.level) >= least && is_step(logs, left, at, at + available)) {
      return Pieces{before, after};
    }
    if (taken == available) break;
  }
  return std::nullopt;
}

// Runs both one-sided sums over the values of one baseline.
class Cusum {
 public:
  // True for an alarm.
  bool add(double value, std::size_t index, const Baseline& base) {
    const double z = std::clamp((value - base.level) / base.scale, -kClip, kClip);
    up_ = step(up_, z, index, up_from_);
    down_ = step(down_, -z, index, down_from_);
    return std::max(up_, down_) > base.alarm;
  }
  // Where the greater sum began to rise.
  std::size_t onset() const { return up_ >= down_ ? up_from_ : down_from_; }
  void reset() { up_ = down_ = 0; }

 private:
  static double step(double sum, double z, std::size_t index, std::size_t& from) {
    if (sum <= 0) from = index;
    return std::max(0.0, sum + z - kSlack);
  }
  double up_ = 0, down_ = 0;
  std::size_t up_from_ = 0, down_from_ = 0;
};

// Steps at which a growing baseline is learned anew.
bool learns_at(std::size_t points) {
  for (const std::size_t at : {kFewest, std::size_t{30}, std::size_t{45}, std::size_t{70},
                               std::size_t{100}, std::size_t{150}, kMost}) {
    if (points == at) return true;
  }
  return false;
}

// A change that its own later half takes back was a warm-up, behind a restart or a compilation.
bool passed_by(std::span<const double> logs, std::size_t begin, std::size_t from, std::size_t end) {
  const std::size_t half = from + (end - from) / 2;
  if (end - half < kFewest) return false;  // too short to tell
  const std::size_t left = std::max(begin, from > kMost ? from - kMost : 0);
  const double before = fast_part(logs.subspan(left, from - left))->level;
  const double early = fast_part(logs.subspan(from, std::min(kAround, half - from)))->level;
  const double late = fast_part(logs.subspan(half, end - half))->level;
  return std::abs(late - before) < std::max(kLeastChange, std::abs(early - before) / 4);
}

void drop_passing(std::span<const double> logs, std::vector<LevelChange>& changes) {
  std::vector<LevelChange> kept;
  for (const LevelChange& change : changes) {
    const std::size_t begin = kept.empty() ? 0 : kept.back().from;
    if (passed_by(logs, begin, change.from, change.until.value_or(logs.size()))) continue;
    kept.push_back(change);
  }
  for (std::size_t i = 0; i + 1 < kept.size(); ++i) kept[i].until = kept[i + 1].from;
  if (!kept.empty() && !changes.back().until) kept.back().until = std::nullopt;
  changes = std::move(kept);
}

}  // namespace

std::vector<LevelChange> find_level_changes(std::span<const double> values, double resolution) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double v) { return std::log(v); });
  const std::span<const double> all(logs);
  std::vector<LevelChange> changes;
  std::size_t begin = 0;  // of the level that holds
  Baseline base;
  Cusum cusum;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (learns_at(i - begin)) base = learn(all.subspan(begin, i - begin), resolution);
    if (!base.known || !cusum.add(logs[i], i, base)) continue;
    const std::size_t onset = cusum.onset();
    const auto pieces = verify(all, begin, onset, base.scale);
    if (!pieces) {
      // Slow steps, or a drift: a drift moves the baseline, slow steps do not.
      cusum.reset();
      if (i - begin >= kMost) base = learn(all.subspan(i + 1 - kMost, kMost), resolution);
      continue;
    }
    if (!changes.empty()) changes.back().until = onset;
    LevelChange change;
    change.from = onset;
    change.ratio = std::exp(pieces->after.level - pieces->before.level);
    change.scatter_before = pieces->before.sigma;
    change.scatter = pieces->after.sigma;
    changes.push_back(change);
    begin = onset;
    i = onset;  // the new level is learned from its own start
    base = {};
    cusum.reset();
  }
  drop_passing(all, changes);
  return changes;
}

}  // namespace muster::shape
