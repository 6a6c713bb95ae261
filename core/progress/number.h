#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/plain_number.h"
#include "base/time.h"

// Numbers as trainers print them: "53,012", "52.8k", "1.2M", "9.1E-06", "nan", "-inf". Read from
// the front of a text; what follows is left to the caller (units differ by dialect).

namespace muster::progress {

enum class WhichDuration : std::uint8_t { first, last };

// A duration in running text: "done in 122.1 s", "(2 min 3 s)", "took 45secs", "480 seconds",
// "117 s, ...". Rates ("4.9 s/it") and sizes ("62 GB") are none. Negative and absurd ones (over a
// year) are refused.
std::optional<Duration> find_duration(std::string_view text, WhichDuration which);

// The duration at the start of `text`, which then moves behind it.
std::optional<Duration> take_duration(std::string_view& text);

// A letter, a digit or '_'. By table: every byte of a log is asked.
inline bool is_word(char c) {
  static constexpr auto kTable = [] {
    std::array<bool, 256> table{};
    for (unsigned i = 0; i < table.size(); ++i) {
      const char at = static_cast<char>(i);
      table[i] = is_digit(at) || is_letter(at) || at == '_';
    }
    return table;
  }();
  return kTable[static_cast<unsigned char>(c)];
}
inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// With group commas, an exponent, a suffix, a sign or more digits than the plain ones below.
std::optional<double> take_careful_number(std::string_view& text);
std::optional<std::int64_t> take_careful_count(std::string_view& text);

// Reads a number at the start of `text` and moves `text` behind it; leaves it alone when there is
// none. A comma belongs to the number only between digits in groups of three. Inline, as the next:
// nearly all numbers are plain, and an optional that is passed through memory costs as much as
// they.
inline std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const std::size_t used = read_plain_number(text, value);
  if (used == 0 || (used < text.size() && (text[used] == ',' || is_word(text[used])))) {
    return take_careful_number(text);
  }
  text.remove_prefix(used);
  return value;
}

// A whole number without sign, of at most 18 digits, commas allowed; "1.5" and "7x" are refused.
inline std::optional<std::int64_t> take_count(std::string_view& text) {
  constexpr std::size_t kMaxPlain = 15;
  std::int64_t value = 0;
  std::size_t used = 0;
  while (used < text.size() && used <= kMaxPlain && is_digit(text[used])) {
    value = value * 10 + (text[used++] - '0');
  }
  if (used == 0) return std::nullopt;
  if (used > kMaxPlain ||
      (used < text.size() && (text[used] == ',' || text[used] == '.' || is_word(text[used])))) {
    return take_careful_count(text);
  }
  text.remove_prefix(used);
  return value;
}

}  // namespace muster::progress
