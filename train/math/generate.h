#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "train/math/model_math.h"

namespace muster::train {

// Whole weights of a unit, valid until the next call. Under sharding this is a collective: all
// ranks must generate the same text at the same time, which they do, as it depends on nothing else.
using UnitWeights = std::function<const std::byte*(std::size_t unit)>;

struct Sampling {
  std::uint64_t tokens = 64;  // new ones, at most
  double temperature = 0;     // 0: always the likeliest token
  std::uint64_t seed = 1;
  std::int32_t stop = -1;  // the id that ends the text and is not part of it; -1: none
};

// What the model goes on with after `prompt`. Each token costs a forward pass of the whole text:
// meant for a sample at the end of a run. Errc::invalid_input: an empty prompt, or an id that is
// not in the vocabulary.
Result<std::vector<std::int32_t>> generate(ModelMath& math, const UnitWeights& weights,
                                           std::span<const std::int32_t> prompt,
                                           const Sampling& sampling);

}  // namespace muster::train
