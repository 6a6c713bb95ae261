#pragma once

#include <vector>

#include "core/shape/shapes.h"

namespace muster::shape {

// Each attempt of at least 40 points: how its level drifts (slow points left out), and whether slow
// points become more frequent. `shapes` has its slow points and changes of level.
std::vector<AttemptTrend> find_trends(const Curve& curve, const Shapes& shapes);

}  // namespace muster::shape
