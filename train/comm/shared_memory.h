#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"

namespace muster::train {

// Zeroed memory without a name that processes share by its descriptor. It is gone with the last of
// them; pages that nobody touched cost nothing.
class SharedMemory {
 public:
  static Result<std::unique_ptr<SharedMemory>> create(std::size_t bytes);
  // Takes the descriptor over.
  static Result<std::unique_ptr<SharedMemory>> map(int descriptor, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  int descriptor() const { return descriptor_; }

 private:
  SharedMemory(int descriptor, std::byte* data, std::size_t size)
      : descriptor_(descriptor), data_(data), size_(size) {}

  int descriptor_;
  std::byte* data_;
  std::size_t size_;
};

}  // namespace muster::train
