#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/shape/shapes.h"

namespace muster::shape {

// Lasting changes of the level of `values` (positive, in order), as indices into it. `resolution`:
// relative width of one digit of the values, where they are coarse (0: they are not).
std::vector<LevelChange> find_level_changes(std::span<const double> values, double resolution);

}  // namespace muster::shape
