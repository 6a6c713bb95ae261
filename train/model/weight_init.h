#pragma once

#include <cstdint>
#include <span>

#include "train/model/unit_plan.h"

namespace muster::train {

// Standard deviation of random weights: initializer_range of the published configurations.
inline constexpr double kInitDeviation = 0.02;

// Weights of a model that begins from nothing: norms are 1, all else is normal with mean 0. An
// element depends on the seed, the name of its tensor and its place in it alone, so that each rank
// of any world size makes its own slice. Fills `out` with elements [begin, begin + out.size()) of
// the unit; zeros beyond its end (padding).
void init_weights(const Unit& unit, std::uint64_t seed, std::uint64_t begin, std::span<float> out);
void init_weights(const Unit& unit, std::uint64_t seed, std::uint64_t begin, std::span<double> out);

}  // namespace muster::train
