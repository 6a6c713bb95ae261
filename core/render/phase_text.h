#pragma once

#include <string>

#include "core/model/fleet_view.h"

namespace muster {

// What the GPUs of a run do, for people: one line of what was read, the newest phases as a
// timeline, and a small grid of power and utilization.
//
//   14:05:41 UTC  n1 n2  16 GPUs  B300  bands: defaults for B300
//     phase   14:02:05 UTC  COMPUTE   986 W median  util 100 %  1 h 12 min
//     GPU     0    1    2 ...
//     n1  W 193  193  192 ...
//     n1  % 100  100  100 ...
//
// At most 16 hosts and eight GPUs a line; hosts with something odd, old or missing come first in
// the choice. A value that is missing, or too old to be judged, is "-", with the reason below.
// "*" marks the GPU that stands out. No line is longer than `width` (at least 60); text from
// outside is escaped. Times are UTC. Empty where there is no GPU and no phase.
std::string render_phase_text(const FleetView& view, std::size_t width = 80);

}  // namespace muster
