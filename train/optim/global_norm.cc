#include "train/optim/global_norm.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace muster::train {
namespace {

// Partial sums that do not wait for each other; a fixed number, so that the width of a processor's
// vectors changes no bit.
constexpr std::size_t kLanes = 16;

template <typename T>
double sum_typed(const T* values, std::uint64_t elements) {
  std::array<double, kLanes> sums{};
  std::uint64_t i = 0;
  for (; i + kLanes <= elements; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      sums[lane] += value * value;
    }
  }
  for (std::size_t lane = 0; i < elements; ++i, ++lane) {
    const auto value = static_cast<double>(values[i]);
    sums[lane] += value * value;
  }
  double out = 0;
  for (const double sum : sums) out += sum;
  return out;
}

}  // namespace

double sum_of_squares(Dtype dtype, const std::byte* gradient, std::uint64_t elements) {
  MUSTER_CHECK(dtype != Dtype::bf16, "sums are not kept in bf16");
  if (dtype == Dtype::f64) return sum_typed(reinterpret_cast<const double*>(gradient), elements);
  return sum_typed(reinterpret_cast<const float*>(gradient), elements);
}

double clip_factor(double norm, std::optional<double> largest) {
  if (!largest) return 1;
  return std::min(1.0, *largest / (norm + 1e-6));
}

}  // namespace muster::train
