#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/check.h"

namespace muster::tokens {

// Told of memory that a table is about to use, whole pages of it that hold zeros: where the system
// can give larger pages for it (edge/os/huge_pages.h), a look at a random place costs half.
using MemoryAdvice = void (*)(void* begin, std::size_t bytes);

// A zeroed array of a size that is known when it is made. The system need not provide memory of it
// that nobody has used.
template <typename T>
class LargeTable {
 public:
  LargeTable(std::size_t count, MemoryAdvice advice)
      : memory_(std::calloc(room(count) + kPage, 1)), count_(count) {
    MUSTER_CHECK(memory_ != nullptr, "memory for a table");
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    table_ = reinterpret_cast<T*>((address + kPage - 1) & ~std::uintptr_t{kPage - 1});
    if (advice != nullptr && room(count) >= kPage) advice(table_, room(count));
  }

  T& operator[](std::size_t i) { return table_[i]; }
  const T& operator[](std::size_t i) const { return table_[i]; }
  std::size_t size() const { return count_; }
  T* begin() { return table_; }
  T* end() { return table_ + count_; }

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;  // of x86-64 and arm64
  // Large pages as soon as half of one is needed.
  static std::size_t room(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    return bytes < kPage / 2 ? bytes : (bytes + kPage - 1) / kPage * kPage;
  }
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  T* table_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace muster::tokens
