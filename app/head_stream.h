#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "edge/os/files.h"

namespace muster {

// Bytes that were read already, then what is left of their stream (nullptr: nothing). Both outlive
// this.
class HeadStream final : public ByteStream {
 public:
  explicit HeadStream(std::string_view head, ByteStream* rest = nullptr)
      : head_(head), rest_(rest) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    if (head_.empty()) return rest_ != nullptr ? rest_->read(buffer) : Result<std::size_t>(0);
    const std::size_t n = std::min(buffer.size(), head_.size());
    std::memcpy(buffer.data(), head_.data(), n);
    head_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view head_;
  ByteStream* rest_;
};

}  // namespace muster
