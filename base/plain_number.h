#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

// The number at the front of `text` where it is as simple as nearly all are ("97", "627.02": at
// most 15 digits, a digit on both sides of the point, no sign, no exponent): the bytes it takes,
// and `value` as from_chars would give it, several times faster. 0: ask from_chars. Inline: cells
// of tables and numbers of logs are read with it.
inline std::size_t read_plain_number(std::string_view text, double& value) {
  constexpr std::size_t kMaxDigits = 15;
  static constexpr double kPowers[kMaxDigits + 1] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = begin;
  std::uint64_t digits = 0;
  const auto take_digits = [&] {
    const char* const from = at;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
      digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return static_cast<std::size_t>(at - from);
  };
  const std::size_t whole = take_digits();
  if (whole == 0 || whole > kMaxDigits) return 0;
  // Digits and power of ten are exact in a double, so their quotient is the nearest value.
  if (at == end || *at != '.') {
    value = static_cast<double>(digits);
  } else {
    ++at;
    const std::size_t fraction = take_digits();
    if (fraction == 0 || whole + fraction > kMaxDigits) return 0;
    value = static_cast<double>(digits) / kPowers[fraction];
  }
  return static_cast<std::size_t>(at - begin);
}

}  // namespace muster
