#pragma once

#include <bit>
#include <span>
#include <string_view>

namespace muster {

// What is written and hashed as it lies in memory is little-endian on disk.
static_assert(std::endian::native == std::endian::little, "files are written as memory lies");

// The bytes of numbers, as they lie in memory; as long as `values` lives.
template <typename T>
std::string_view memory_bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// The same to be filled: numbers that are read as they were written.
template <typename T>
std::span<char> writable_bytes(std::span<T> values) {
  return {reinterpret_cast<char*>(values.data()), values.size_bytes()};
}

}  // namespace muster
