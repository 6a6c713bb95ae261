#include "train/comm/rank_sum.h"

#include <algorithm>
#include <array>
#include <bit>

namespace muster::train {
namespace {

// Sums that are under way stay in the first cache.
constexpr std::size_t kBlock = 1024;

std::uint16_t rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nearest = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t nan = (bits >> 16) | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : nearest);
}

float widened(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}
float widened(float value) {
  return value;
}
double widened(double value) {
  return value;
}

template <typename Wire, typename Sum, bool kAdd>
void sum_blocks(std::span<const std::byte* const> parts, Sum* sum, std::size_t elements) {
  std::array<Sum, kBlock> block;
  for (std::size_t at = 0; at < elements; at += kBlock) {
    const std::size_t n = std::min(kBlock, elements - at);
    const auto* first = reinterpret_cast<const Wire*>(parts[0]) + at;
    for (std::size_t i = 0; i < n; ++i) block[i] = widened(first[i]);
    for (std::size_t part = 1; part < parts.size(); ++part) {
      const auto* next = reinterpret_cast<const Wire*>(parts[part]) + at;
      for (std::size_t i = 0; i < n; ++i) block[i] += widened(next[i]);
    }
    Sum* out = sum + at;
    if constexpr (kAdd) {
      for (std::size_t i = 0; i < n; ++i) out[i] += block[i];
    } else {
      std::copy_n(block.begin(), n, out);
    }
  }
}

template <bool kAdd>
void sum_typed(std::span<const std::byte* const> parts, std::byte* sum, std::size_t elements,
               Dtype wire) {
  switch (wire) {
    case Dtype::f64:
      return sum_blocks<double, double, kAdd>(parts, reinterpret_cast<double*>(sum), elements);
    case Dtype::f32:
      return sum_blocks<float, float, kAdd>(parts, reinterpret_cast<float*>(sum), elements);
    case Dtype::bf16:
      return sum_blocks<std::uint16_t, float, kAdd>(parts, reinterpret_cast<float*>(sum), elements);
  }
}

}  // namespace

void to_wire_bf16(const float* from, std::uint16_t* to, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) to[i] = rounded(from[i]);
}

void add_in_rank_order(std::span<const std::byte* const> parts, std::byte* sum,
                       std::size_t elements, Dtype wire) {
  sum_typed<true>(parts, sum, elements, wire);
}

void fold_in_rank_order(std::span<const std::byte* const> parts, std::byte* sum,
                        std::size_t elements, Dtype wire) {
  sum_typed<false>(parts, sum, elements, wire);
}

}  // namespace muster::train
