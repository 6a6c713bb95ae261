#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// UTF-16 -> UTF-8, a piece at a time, cut anywhere: what a redirect in a Windows shell writes. The
// order of bytes is told by their mark, which is left out, or by the caller; half a pair becomes
// U+FFFD.
class Utf16Decoder {
 public:
  Utf16Decoder() = default;
  explicit Utf16Decoder(bool big_endian) : big_endian_(big_endian) {}

  // Whether bytes without a mark are UTF-16 all the same, and in which order: nearly every second
  // byte of a text in a western language is a zero, and hardly one of the others.
  static std::optional<bool> big_endian_without_mark(std::string_view head);
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
