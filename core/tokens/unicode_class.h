#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// What the regular expressions of the splits ask of a character: its class of Unicode 16.0, the one
// that Hugging Face's tokenizers 0.21.2 and later use (tables/README.md).

namespace muster::tokens {

enum class CharClass : std::uint8_t {
  other,     // controls, formats, unassigned, private
  upper,     // Lu
  lower,     // Ll
  title,     // Lt
  modifier,  // Lm
  letter,    // Lo
  mark,      // M
  number,    // N
  blank,     // White_Space
  punctuation,
  symbol,
};

// Sets of classes, as masks.
using ClassSet = std::uint16_t;
constexpr ClassSet set_of(CharClass c) {
  return static_cast<ClassSet>(1u << static_cast<unsigned>(c));
}
template <typename... More>
constexpr ClassSet set_of(CharClass c, More... more) {
  return static_cast<ClassSet>(set_of(c) | set_of(more...));
}
constexpr bool in_set(ClassSet set, CharClass c) {
  return ((set >> static_cast<unsigned>(c)) & 1u) != 0;
}

inline constexpr ClassSet kLetters = set_of(CharClass::upper, CharClass::lower, CharClass::title,
                                            CharClass::modifier, CharClass::letter);

// One byte for each code point, in pages of 256 of which equal ones are kept once.
class CodePointTable {
 public:
  // Runs as in tables/unicode_tables.h: length << bits | value.
  CodePointTable(const std::uint32_t* runs, std::size_t count, unsigned bits);

  std::uint8_t at(std::uint32_t point) const {
    return pages_[static_cast<std::size_t>(index_[point >> 8]) << 8 | (point & 0xFF)];
  }
  void set(std::uint32_t point, std::uint8_t value);

 private:
  void share();

  std::array<std::uint16_t, 0x1100> index_{};
  std::vector<std::uint8_t> pages_;
};

// The table of classes, expanded at first use (a millisecond).
const CodePointTable& class_table();

inline CharClass class_of(const CodePointTable& table, std::uint32_t point) {
  return static_cast<CharClass>(table.at(point));
}

// The character at `p` of valid UTF-8 text.
struct Decoded {
  std::uint32_t point = 0;
  std::uint32_t bytes = 0;
};
inline Decoded decode_valid(const char* p) {
  const auto byte = [p](int i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(p[i]));
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (first < 0xF0) return {(first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4};
}
void append_utf8(std::uint32_t point, std::string& out);

}  // namespace muster::tokens
