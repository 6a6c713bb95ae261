#pragma once

#include <cstdint>

namespace muster {

// Bytes [begin, end) of a text.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
<<<<<<< HEAD
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
=======
  bool operator==(const ByteRange&) const = default;
>>>>>>> db5e67c
};

}  // namespace muster
