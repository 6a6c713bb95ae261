#include "core/telemetry/series_state.h"

#include <algorithm>
#include <bit>

namespace muster {

void CounterTrack::observe(double value, WallTime at) {
  if (!first) {
    first = value;
    first_at = at;
  } else {
    grown += value >= *newest ? value - *newest : value;  // restarted: it counts from 0 again
  }
  newest = value;
  newest_at = at;
}

std::optional<double> CounterTrack::rate_per_s() const {
  if (!first || newest_at <= first_at) return std::nullopt;
  return grown / duration_to_seconds(newest_at - first_at);
}

void Tally::add(bool hit) {
  // The newest hundred or so count: what began or ended after hours must show.
  if (judged >= 120) {
    judged /= 2;
    hits /= 2;
  }
  ++judged;
  hits += hit;
  recent = static_cast<std::uint8_t>((recent << 1) | (hit ? 1 : 0));
}

bool Tally::two_of_last_three() const {
  return judged >= 3 && std::popcount(static_cast<unsigned>(recent & 7)) >= 2;
}

void LimitTrack::observe(double watts, WallTime at) {
  if (value_w != watts) {
    value_w = watts;
    reads = 0;
    from = at;
  }
  ++reads;
  to = at;
}

std::optional<double> LimitTrack::steady_w() const {
  const bool steady = reads >= 5 && to - from >= std::chrono::seconds(30);
  return steady ? value_w : std::nullopt;
}

bool SeriesState::told(WallTime when) const {
  return at - when <= seconds_to_duration(std::max(10.0, 5 * period_s.value_or(2)));
}

Reading SeriesState::power() const {
  if (!told(power_told)) return Reading::absent(Absence::not_reported);
  const Reading board = get(Metric::power_w);
  if (board.has_value()) return board;
  const Reading instant = get(Metric::power_instant_w);
  if (instant.has_value()) return instant;
  const Reading node = get(Metric::node_power_w);
  return node.has_value() ? node : board;
}

std::optional<double> SeriesState::util() const {
  const Reading util = get(Metric::util_gpu_percent);
  if (!util.has_value() || !told(util_told)) return std::nullopt;
  return util.value();
}

}  // namespace muster
