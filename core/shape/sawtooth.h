#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/shape/curve.h"
#include "core/shape/shapes.h"

namespace muster::shape {

// Steps that grow slower and fall back at regular steps without a restart. Medians of 5 points on
// both sides of a point, so single slow steps make none; a fall is at least 2 % and five standard
// errors, and at least five falls have to be regular. `where`: the points that count, as indices.
std::optional<Sawtooth> find_sawtooth(const Curve& curve, std::span<const std::size_t> where);

}  // namespace muster::shape
