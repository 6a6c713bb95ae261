#pragma once

#include <optional>
#include <span>

#include "core/model/fleet_view.h"
#include "core/telemetry/bands.h"

namespace muster {

// One GPU (or node) of the run at one moment.
struct TickInput {
  SeriesId id = 0;
  PowerLevel level = PowerLevel::none;
  std::optional<double> util_percent;
  bool whole_node = false;  // its power is that of a whole host
  bool rank0 = false;     // the rank that writes saves: rank 0, or index 0 where ranks are unknown
  bool may_spin = false;  // above the floor, but kernels that only spin can draw that much too
  bool levels_proven = true;  // false: relative bands that have seen only one level so far
};

struct TickVerdict {
  Phase phase = Phase::unknown;
  Shape shape = Shape::none;
  std::optional<SeriesId> odd;
  bool at_floor = false;  // nobody does work: the kind of tick that a hang consists of
  bool busy = false;      // somebody works
};

// What the GPUs of a run do at one moment, from level and utilization alone. No memory: whether a
// wait is too long, or a middle band an alternation, is decided by those who see many ticks.
TickVerdict judge_tick(std::span<const TickInput> gpus);

}  // namespace muster
