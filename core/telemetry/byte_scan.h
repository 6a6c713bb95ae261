#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Eight bytes of a line at a time, for the splitters of cells.

namespace muster {

static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");

inline std::uint64_t load_bytes(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// The highest bit of each byte that equals `c`.
inline std::uint64_t bytes_equal(std::uint64_t bytes, char c) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U, kLow = 0x7f * kOnes;
  bytes ^= kOnes * static_cast<unsigned char>(c);
  return ~(((bytes & kLow) + kLow) | bytes | kLow);
}

// Which byte the lowest bit of a mask is.
inline std::size_t first_byte(std::uint64_t mask) {
  return static_cast<std::size_t>(std::countr_zero(mask)) / 8;
}

}  // namespace muster
