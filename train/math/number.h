#pragma once

#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

namespace muster::train {

// A bf16 in memory, so that it is not taken for an integer; train/model/bf16.h converts.
struct Bf16 {
  std::uint16_t bits;
};

// Of statistics, losses and gradients of numbers T (sum_dtype).
template <typename T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Memory that begins on a cache line.
template <typename T>
struct OnCacheLine {
  using value_type = T;
  OnCacheLine() = default;
  template <typename U>
  OnCacheLine(const OnCacheLine<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* data, std::size_t) { ::operator delete(data, std::align_val_t{64}); }
  bool operator==(const OnCacheLine&) const { return true; }
};

template <typename T>
using Buffer = std::vector<T, OnCacheLine<T>>;

}  // namespace muster::train
