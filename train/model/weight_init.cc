#include "train/model/weight_init.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/hash_mix.h"

namespace muster::train {
namespace {

// The finalizer of splitmix64: every bit of the input moves half of the output's.
std::uint64_t scatter(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// In (0, 1), 53 bits.
double uniform(std::uint64_t key, std::uint64_t counter) {
  const std::uint64_t bits = scatter(key + (counter + 1) * 0x9e3779b97f4a7c15ULL) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

// Box and Muller, one of the pair: no element depends on its neighbour.
double normal(std::uint64_t key, std::uint64_t element) {
  const double radius = std::sqrt(-2 * std::log(uniform(key, 2 * element)));
  return radius * std::cos(2 * std::numbers::pi * uniform(key, 2 * element + 1));
}

template <typename T>
void fill(const Unit& unit, std::uint64_t seed, std::uint64_t begin, std::span<T> out) {
  std::fill(out.begin(), out.end(), T{0});
  const std::uint64_t end = begin + out.size();
  for (const TensorSpec& tensor : unit.tensors) {
    const std::uint64_t key = scatter(mix(scatter(seed), tensor.name));
    const std::uint64_t last = std::min(end, tensor.offset + tensor.elements());
    for (std::uint64_t i = std::max(begin, tensor.offset); i < last; ++i) {
      const bool norm = tensor.shape.size() == 1;
      out[i - begin] =
          norm ? T{1} : static_cast<T>(kInitDeviation * normal(key, i - tensor.offset));
    }
  }
}

}  // namespace

void init_weights(const Unit& unit, std::uint64_t seed, std::uint64_t begin, std::span<float> out) {
  fill(unit, seed, begin, out);
}

void init_weights(const Unit& unit, std::uint64_t seed, std::uint64_t begin,
                  std::span<double> out) {
  fill(unit, seed, begin, out);
}

}  // namespace muster::train
