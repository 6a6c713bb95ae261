#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::train {

// Numbers of the trainer. bf16: the upper half of a float, rounded to nearest even.
enum class Dtype : std::uint8_t { f64, f32, bf16 };

constexpr std::size_t dtype_bytes(Dtype dtype) {
  return dtype == Dtype::f64 ? 8 : dtype == Dtype::f32 ? 4 : 2;
}

// Of master weights, moments and sums of gradients: nothing is ever added up in bf16.
constexpr Dtype sum_dtype(Dtype compute) {
  return compute == Dtype::f64 ? Dtype::f64 : Dtype::f32;
}

}  // namespace muster::train
