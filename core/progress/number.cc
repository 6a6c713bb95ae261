#include "core/progress/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace muster::progress {
namespace {

constexpr std::size_t kMaxNumberChars = 40;
constexpr double kMaxDurationS = 366.0 * 86400;

bool starts_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (lower(text[i]) != word[i]) return false;
  }
  return text.size() == word.size() || !is_word(text[word.size()]);
}

// A comma at `i` that separates thousands: three digits follow, and no fourth.
bool is_group_comma(std::string_view text, std::size_t i) {
  for (std::size_t k = 1; k <= 3; ++k) {
    if (i + k >= text.size() || !is_digit(text[i + k])) return false;
  }
  return i + 4 >= text.size() || !is_digit(text[i + 4]);
}

// Digits with group commas into `out`; the number of bytes used.
std::size_t copy_digits(std::string_view text, std::array<char, kMaxNumberChars>& out,
                        std::size_t& length) {
  std::size_t i = 0;
  std::size_t group = 0;  // digits since the start or the last comma
  bool commas = false;
  for (; i < text.size() && length < out.size(); ++i) {
    if (is_digit(text[i])) {
      out[length++] = text[i];
      ++group;
      continue;
    }
    const bool full = commas ? group == 3 : group >= 1 && group <= 3;
    if (text[i] != ',' || !full || !is_group_comma(text, i)) break;
    commas = true;
    group = 0;
  }
  return i;
}

double suffix_scale(std::string_view& text) {
  if (text.empty() || (text.size() > 1 && (is_word(text[1]) || text[1] == '/'))) return 1;
  double scale = 1;
  switch (text[0]) {
    case 'k':
    case 'K':
      scale = 1e3;
      break;
    case 'M':
      scale = 1e6;
      break;
    case 'G':
    case 'B':
      scale = 1e9;
      break;
    default:
      return 1;
  }
  text.remove_prefix(1);
  return scale;
}

std::optional<double> take_special(std::string_view& text, bool negative) {
  for (const std::string_view word : {"nan", "infinity", "inf"}) {
    if (!starts_with_word(text, word)) continue;
    text.remove_prefix(word.size());
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    const double infinite = std::numeric_limits<double>::infinity();
    return negative ? -infinite : infinite;
  }
  return std::nullopt;
}

// Fraction and exponent behind the digits.
void copy_tail(std::string_view text, std::size_t& i, std::array<char, kMaxNumberChars>& out,
               std::size_t& length) {
  const auto digits = [&] {
    while (i < text.size() && is_digit(text[i]) && length < out.size()) out[length++] = text[i++];
  };
  if (i < text.size() && text[i] == '.' && length < out.size()) {
    out[length++] = text[i++];
    digits();
  }
  if (i + 1 >= text.size() || lower(text[i]) != 'e') return;
  const bool sign = text[i + 1] == '-' || text[i + 1] == '+';
  const std::size_t first = i + (sign ? 2 : 1);
  if (first >= text.size() || !is_digit(text[first]) || length + 2 > out.size()) return;
  out[length++] = 'e';
  if (text[i + 1] == '-') out[length++] = '-';
  i = first;
  digits();
}

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<Unit, 17> kUnits = {{{"s", 1},
                                          {"sec", 1},
                                          {"secs", 1},
                                          {"second", 1},
                                          {"seconds", 1},
                                          {"ms", 1e-3},
                                          {"msec", 1e-3},
                                          {"milliseconds", 1e-3},
                                          {"m", 60},
                                          {"min", 60},
                                          {"mins", 60},
                                          {"minute", 60},
                                          {"minutes", 60},
                                          {"h", 3600},
                                          {"hr", 3600},
                                          {"hour", 3600},
                                          {"hours", 3600}}};

std::optional<double> take_unit(std::string_view& text) {
  std::string_view rest = text;
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const Unit& unit : kUnits) {
    if (!starts_with_word(rest, unit.name)) continue;
    rest.remove_prefix(unit.name.size());
    if (rest.starts_with('/')) return std::nullopt;  // a rate
    text = rest;
    return unit.seconds;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> take_careful_number(std::string_view& text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  if (!is_digit(rest[0]) && rest[0] != '.') {
    const auto special = take_special(rest, negative);
    if (special) text = rest;
    return special;
  }
  double value = 0;
  std::array<char, kMaxNumberChars> digits;
  std::size_t length = 0;
  std::size_t used = copy_digits(rest, digits, length);
  copy_tail(rest, used, digits, length);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + length, value);
  if (error != std::errc() || end != digits.data() + length) return std::nullopt;
  rest.remove_prefix(used);
  value *= suffix_scale(rest);
  text = rest;
  return negative ? -value : value;
}

std::optional<std::int64_t> take_careful_count(std::string_view& text) {
  std::int64_t value = 0;
  std::size_t digits = 0, used = 0, group = 0;
  bool commas = false;
  for (; used < text.size(); ++used) {
    if (is_digit(text[used])) {
      if (++digits > 18) return std::nullopt;
      value = value * 10 + (text[used] - '0');
      ++group;
      continue;
    }
    const bool full = commas ? group == 3 : group >= 1 && group <= 3;
    if (text[used] != ',' || !full || !is_group_comma(text, used)) break;
    commas = true;
    group = 0;
  }
  if (digits == 0) return std::nullopt;
  if (used < text.size()) {
    const char next = text[used];
    if (is_word(next)) return std::nullopt;
    if (next == '.' && used + 1 < text.size() && is_digit(text[used + 1])) return std::nullopt;
  }
  text.remove_prefix(used);
  return value;
}

std::optional<Duration> take_duration(std::string_view& text) {
  std::string_view rest = text;
  double total_s = 0;
  bool any = false;
  double last_unit = std::numeric_limits<double>::infinity();
  for (;;) {
    std::string_view next = rest;
    if (any && next.starts_with(' ')) next.remove_prefix(1);
    if (next.empty() || !is_digit(next[0])) break;
    const auto value = take_number(next);
    const auto unit = value ? take_unit(next) : std::nullopt;
    if (!unit || *unit >= last_unit) break;  // "1 min 20 s" goes down; "500 s 117 s" are two
    total_s += *value * *unit;
    last_unit = *unit;
    any = true;
    rest = next;
  }
  if (!any || !(total_s <= kMaxDurationS)) return std::nullopt;
  text = rest;
  return seconds_to_duration(total_s);
}

std::optional<Duration> find_duration(std::string_view text, WhichDuration which) {
  std::optional<Duration> found;
  for (std::size_t i = 0; i < text.size();) {
    const bool boundary = i == 0 || (!is_word(text[i - 1]) && text[i - 1] != '.' &&
                                     text[i - 1] != '-' && text[i - 1] != '/');
    if (!is_digit(text[i]) || !boundary) {
      ++i;
      continue;
    }
    std::string_view rest = text.substr(i);
    if (const auto duration = take_duration(rest)) {
      found = duration;
      if (which == WhichDuration::first) return found;
      i = text.size() - rest.size();
    } else {
      while (i < text.size() && (is_digit(text[i]) || text[i] == ',' || text[i] == '.')) ++i;
    }
  }
  return found;
}

}  // namespace muster::progress
