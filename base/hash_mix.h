#pragma once

#include <cstdint>
#include <string_view>

// Small hashes of values that we made ourselves or that cannot be chosen to collide with harm: keys
// to compare, never tables that hostile input fills.

namespace muster {

inline constexpr std::uint64_t kHashSeed = 0xcbf29ce484222325ULL;

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

inline std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(hash, text.size());
}

}  // namespace muster
