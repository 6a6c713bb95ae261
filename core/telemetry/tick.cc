#include "core/telemetry/tick.h"

#include <algorithm>

namespace muster {
namespace {

// A spinning collective reads 99 to 100 %, a rank that writes a save 0 to 5 % (measured on H100).
constexpr double kZeroPercent = 5, kBusyPercent = 80;
// Communication keeps every rank at about 100 %; starvation scatters them (55 to 100 % on B300).
constexpr double kUniformPercent = 90, kScatterPoints = 15;

struct Counts {
  std::size_t n = 0;  // with a power level
  std::size_t idle = 0, floor = 0, mid = 0, high = 0;
  std::size_t nodes = 0;
  std::size_t util = 0, zero = 0, busy = 0;
  std::size_t may_spin = 0;  // busy, and drawing no more than that
  double util_min = 100, util_max = 0;
  bool proven = true;
  const TickInput* last_zero = nullptr;
  const TickInput* last_busy_above = nullptr;  // above the floor
  const TickInput* last_not_high = nullptr;
};

Counts count(std::span<const TickInput> gpus) {
  Counts c;
  for (const TickInput& g : gpus) {
    if (g.level == PowerLevel::none) continue;
    ++c.n;
    c.proven = c.proven && g.levels_proven;
    c.nodes += g.whole_node;
    c.idle += g.level == PowerLevel::idle;
    c.floor += g.level == PowerLevel::floor;
    c.mid += g.level == PowerLevel::mid;
    c.high += g.level == PowerLevel::high;
    if (g.level > PowerLevel::floor) c.last_busy_above = &g;
    if (g.level != PowerLevel::high) c.last_not_high = &g;
    if (!g.util_percent) continue;
    ++c.util;
    c.util_min = std::min(c.util_min, *g.util_percent);
    c.util_max = std::max(c.util_max, *g.util_percent);
    c.busy += *g.util_percent >= kBusyPercent;
    c.may_spin += *g.util_percent >= kBusyPercent && (g.may_spin || g.level <= PowerLevel::floor);
    if (*g.util_percent <= kZeroPercent) {
      ++c.zero;
      c.last_zero = &g;
    }
  }
  return c;
}

TickVerdict at_the_floor(const Counts& c) {
  TickVerdict v;
  v.at_floor = true;
  v.phase = Phase::waiting;
  if (c.util * 2 < c.n) return v;  // power alone: idle and waiting look the same
  if (c.zero == c.util) {
    v.at_floor = false;
    v.phase = c.idle * 2 > c.n ? Phase::idle : Phase::context_idle;
    v.shape = Shape::uniform;
  } else if (c.zero == 0) {
    v.shape = c.busy * 10 >= c.util * 9 ? Shape::all_spinning : Shape::scatter;
  } else if (c.zero == 1 && c.busy > 0 && c.busy * 10 >= (c.util - 1) * 9) {
    v.odd = c.last_zero->id;
    v.shape = c.last_zero->rank0 ? Shape::rank0_zero : Shape::one_zero;
    if (c.last_zero->rank0) v.phase = Phase::checkpoint_wait;
  } else if (c.zero > c.busy) {
    // A few that spin among many at 0 % are no collective: the end of a job, or another job.
    v.at_floor = false;
    v.phase = Phase::context_idle;
    v.shape = Shape::several_zero;
  } else {
    v.shape = c.busy > 0 ? Shape::several_zero : Shape::scatter;
  }
  return v;
}

// A few hosts stand above the floor of the others for ever: 3.9 kW of 5.6 at work where 45 more
// wait at 2.6 of 6.1 (measured, one of 46). Hosts of one run wait where nine of ten do and none
// computes; where it is only three of four, it is no work either, but no proof of waiting.
std::optional<TickVerdict> nodes_wait(const Counts& c) {
  if (c.nodes < c.n || c.n < 4 || c.high > 0) return std::nullopt;
  if (c.mid <= std::max<std::size_t>(1, c.n / 10)) return at_the_floor(c);
  if (c.mid * 4 > c.n) return std::nullopt;
  return TickVerdict{Phase::waiting, Shape::none, std::nullopt, false, false};
}

TickVerdict above_the_floor(const Counts& c) {
  TickVerdict v;
  v.busy = true;
  // One rank at rest beside busy ones is no queue that runs dry: they wait for it. At full power
  // they do not, except under a cap so low that spinning reaches it.
  const bool apart = c.n >= 3 && c.zero == 1 && c.util == c.n && c.busy + 1 == c.n;
  const auto wait_for_it = [&] {
    v.phase = Phase::waiting;
    v.odd = c.last_zero->id;
    v.shape = c.last_zero->rank0 ? Shape::rank0_zero : Shape::one_zero;
    return v;
  };
  if (apart && c.may_spin + 1 == c.n) return wait_for_it();
  const bool scattered = c.util > 1 && c.util_max - c.util_min > kScatterPoints;
  if (c.high * 10 >= c.n * 9 || (c.n > 2 && c.high + 1 == c.n)) {
    v.phase = c.proven ? Phase::compute : Phase::unknown;
    v.shape = c.high == c.n ? Shape::uniform : Shape::one_low;
    if (c.high + 1 == c.n) v.odd = c.last_not_high->id;
    return v;
  }
  if (c.util * 2 < c.n) {
    v.phase = Phase::communication;  // power alone: the middle band, nothing more is known
    return v;
  }
  if (apart) return wait_for_it();
  const bool uniform = !scattered && c.util_min >= kUniformPercent;
  v.phase = uniform && c.idle + c.floor == 0 ? Phase::communication : Phase::starved;
  v.shape = uniform ? Shape::uniform : Shape::scatter;
  return v;
}

}  // namespace

TickVerdict judge_tick(std::span<const TickInput> gpus) {
  const Counts c = count(gpus);
  if (c.n == 0) return {};
  const std::size_t low = c.idle + c.floor;
  if (!c.proven && c.util * 2 >= c.n && c.zero == c.util) {
    return {Phase::context_idle, Shape::uniform, std::nullopt, false, false};
  }
  if (low == c.n) return at_the_floor(c);
  if (const auto verdict = nodes_wait(c)) return *verdict;
  if (c.n >= 3 && low + 1 == c.n && c.busy * 10 >= c.util * 9 && c.util * 2 >= c.n) {
    // One rank works, the others spin and wait for it.
    return {Phase::waiting, Shape::one_busy, c.last_busy_above->id, false, false};
  }
  return above_the_floor(c);
}

}  // namespace muster
