#pragma once

#include <bit>
#include <cstdint>

namespace muster::train {

// Dtype::bf16 in memory.
struct Bf16 {
  std::uint16_t bits = 0;
  bool operator==(const Bf16&) const = default;
};

inline float widen(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// To nearest, ties to even; what is no number stays none.
inline Bf16 round_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t kept = value == value ? rounded : (bits >> 16) | 0x40U;
  return {static_cast<std::uint16_t>(kept)};
}

}  // namespace muster::train
