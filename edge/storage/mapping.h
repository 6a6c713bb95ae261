#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace muster::storage {

// Mapped memory, unmapped at the end. Buffers of reads that the kernel may still fill are never of
// the heap: unmapped pages stay with the kernel until it is done, freed ones would be handed out.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::size_t bytes, int protection, int flags, int fd, off_t offset)
      : at_(::mmap(nullptr, bytes, protection, flags, fd, offset)), bytes_(bytes) {}
  static Mapping memory(std::size_t bytes) {
    return {bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0};
  }
  Mapping(Mapping&& other) noexcept
      : at_(std::exchange(other.at_, MAP_FAILED)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (*this) ::munmap(at_, bytes_);
  }

  explicit operator bool() const { return at_ != MAP_FAILED; }
  template <typename T = std::byte>
  T* at(std::size_t offset = 0) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(at_) + offset);
  }

 private:
  void* at_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

}  // namespace muster::storage
