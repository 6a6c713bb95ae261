#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// What muster-columns says on its standard output: frames of a kind, a length of four bytes, the
// least first, and so many bytes. First `opened` or a refusal, then rows, at last `end` or
// `corrupt`. Without one of those at its end the program died.
enum class ColumnFrame : char {
  opened = 'o',
  rows = 'r',         // JSON lines
  unsupported = 'u',  // why
  corrupt = 'c',      // why
  end = 'e',
};
inline constexpr std::size_t kFrameHeadBytes = 5;
// Of one frame: more is split.
inline constexpr std::size_t kFrameBytes = 1024 * 1024;

inline std::string frame_head(ColumnFrame kind, std::size_t bytes) {
  std::string head(1, static_cast<char>(kind));
  for (int i = 0; i < 4; ++i) head += static_cast<char>(bytes >> (8 * i) & 0xFF);
  return head;
}
inline std::size_t frame_bytes(std::string_view head) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes |= std::size_t{static_cast<unsigned char>(head[1 + i])} << (8 * i);
  }
  return bytes;
}

}  // namespace muster
