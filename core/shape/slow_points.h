#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/shape/shapes.h"

namespace muster::shape {

// Points well above the level around them, from `begin` on; levels are taken piece by piece
// between restarts and between `cuts`, over 150 points each.
std::vector<SlowPoint> find_slow_points(const Curve& curve, std::size_t begin,
                                        std::span<const std::size_t> cuts, double resolution);

// Gaps of the clocks that the steps between two points do not fill: more than one typical step, and
// more than what the digits of the clock can make. Needs clocks beside another measure.
std::vector<Pause> find_pauses(const Curve& curve);

// Slow points or pauses at regular steps, those apart that the log itself explains. Points of a
// warm-up count where they fit in: the first step may be the first of the row.
std::optional<Period> period_of_slow(const Curve& curve, std::span<const SlowPoint> slow,
                                     const WarmUp& warm_up);
std::optional<Period> period_of_pauses(const Curve& curve, std::span<const Pause> pauses);

}  // namespace muster::shape
