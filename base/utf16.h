#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// UTF-16 with a byte order mark -> UTF-8, a piece at a time, cut anywhere: what a redirect in a
// Windows shell writes. The mark is left out; half a pair becomes U+FFFD.
class Utf16Decoder {
 public:
  // The bytes begin with a mark of UTF-16. (Two bytes are enough to tell.)
  static bool begins(std::string_view head);

  std::string feed(std::string_view bytes);

 private:
  void unit(unsigned value, std::string& out);

  std::optional<bool> big_endian_;
  std::optional<unsigned char> half_;  // the first byte of a unit
  unsigned high_ = 0;                  // the first unit of a pair
};

}  // namespace muster
