#pragma once

// Classes of bytes, whatever the locale. Bytes above 127 are in none.

namespace muster {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace muster
