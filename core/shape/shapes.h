#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/shape/curve.h"
#include "core/shape/statistics.h"

// What a curve looks like. No causes here: judge.h has them.
//
// Thresholds and where they come from (bench/shape_bench.cc repeats the simulations, with figures
// in docs/PERFORMANCE.md):
//  * A level has changed when a clipped CUSUM of robust z says so (z within +-4, k = 1, h = 10),
//  and
//    the fast part behind differs from the one before by 2 % and three standard errors. z is
//    divided by sqrt((1 + r) / (1 - r)) with r the correlation of neighbours: without that, noise
//    with r = 0.5 makes false alarms by the hundred. The baseline is learned from the first 20 to
//    200 points and then frozen until the next change.
//  * sigma is at least 0.3 % of the level: what prints three digits repeats values.
//  * A point is slow at 5 sigma and 3 % above the level around it.
//  * A sag is a Theil-Sen line of at least 3 % over the attempt that chance makes once in a
//  million.

namespace muster::shape {

struct SlowPoint {
  std::size_t index = 0;                   // of the curve's points
  double ratio = 1;                        // to the level around it
  double extra = 0;                        // beyond the level, for one step, in the unit of step_s
  double loading_share = kNone;            // of `extra`, that went into waiting for data
  std::optional<ProgressKind> known = {};  // what stood in the log in front of it
};

// Time between two points in which no step ran, by the clocks of the lines.
struct Pause {
  std::size_t index = 0;  // of the point behind it
  double seconds = 0;
  std::optional<ProgressKind> known = {};
};

struct WarmUp {
  std::size_t points = 0;  // at the start of the log
  double ratio = 1;        // of the slowest of them to the level behind them
  double extra = 0;        // in the unit of step_s, all of them
  bool over = false;       // steps at a steady level followed
};

struct LevelChange {
  std::size_t from = 0;                    // first point of the new level
  std::optional<std::size_t> until;        // first point of the next level, if there is one
  double ratio = 1;                        // new to old; above 1 is slower
  double scatter_before = 0, scatter = 0;  // sigma / level
};

// One attempt: the piece of a curve between two restarts.
struct AttemptTrend {
  std::uint32_t attempt = 0;
  std::size_t from = 0, end = 0;  // points
  double hours = 0;
  double per_hour = 0;                             // growth of the level, as a ratio: 0.02 is 2 %/h
  double total = 0;                                // over the attempt
  bool sags = false;                               // by the rule above
  double first_level = kNone, last_level = kNone;  // fast parts of its first and last tenth
  double slow_first = 0, slow_last = 0;  // share of slow points in its first and last third
  std::size_t third = 0;                 // points of such a third
  bool slow_grows = false;
};

struct Period {
  double steps = 0;
  double seconds = 0;  // 0 where unknown
  double deviation = 0;
  std::vector<std::size_t> points;  // indices
  double ratio = 1;                 // median of the slow ones
  double extra = 0;                 // median, in the unit of step_s or seconds for pauses
  double loading_share = kNone;
  bool of_pauses = false;
};

struct Sawtooth {
  double steps = 0;  // from one fall to the next
  double depth = 0;  // of a fall, as a ratio
  std::size_t falls = 0;
  std::int64_t last_step = 0;  // of the last fall
};

struct Shapes {
  WarmUp warm_up;
  double level = kNone;         // fast part of the points behind the warm-up, unit of step_s
  double median = kNone;        // of the same points
  double scatter = 0;           // sigma / level
  double resolution = 0;        // one digit of the clocks, to the values that they measure
  double first_level = kNone;   // median before the first change of level
  std::vector<SlowPoint> slow;  // not in the warm-up
  std::vector<Pause> pauses;
  std::vector<LevelChange> changes;
  std::vector<AttemptTrend> attempts;
  std::optional<Sawtooth> sawtooth;
  std::optional<Period> slow_period, pause_period;
  double slow_cost = 0;          // share of all time that slow points took beyond the level
  double loading_share = kNone;  // median of loading / step
  std::size_t judged = 0;        // points that the level rests on
};

Shapes find_shapes(const Curve& curve);

}  // namespace muster::shape
