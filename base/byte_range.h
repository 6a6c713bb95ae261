#pragma once

#include <cstdint>

namespace muster {

// Bytes [begin, end) of a text.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

}  // namespace muster
