#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Small helpers on text. Numbers are read with from_chars: no locale, no silent wrap of "-1" into
// an unsigned, no trailing junk.

namespace muster {

// Without blanks, tabs and line ends at both ends. The view points into `text`. Inline: every cell
// of a table passes through it.
inline std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Pieces between separators; an empty text has one empty piece. Views point into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

// The whole of `text` as a number, or nothing: "12 W", "", "1e999" and " 7" give nothing.
std::optional<double> parse_double(std::string_view text);
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_uint(std::string_view text);
// With "0x" in front; 1 to 16 digits.
std::optional<std::uint64_t> parse_hex(std::string_view text);

// ASCII only; other bytes are left alone.
std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);
bool contains_ignoring_case(std::string_view haystack, std::string_view needle);

// Bytes of the character at the front of `text`, 0 where they are no UTF-8; `text` is not empty.
std::size_t take_character(std::string_view text, std::uint32_t& code_point);

// The first `max_bytes` of `text` at most, less what a cut inside of a character of UTF-8 would
// leave of it.
std::string_view whole_characters(std::string_view text, std::size_t max_bytes);

// Characters that change what stands beside them, or that nobody sees: C0 and C1 controls, DEL,
// marks and overrides of direction, blanks without width, tags.
bool is_unsafe_to_show(std::uint32_t code_point);

// Text from outside made safe for a terminal: what is_unsafe_to_show() and invalid UTF-8 become \n,
// \t, \xNN or \u{NNNN}. At most `max_chars` characters of output (at least 3); what is cut ends in
// "...".
std::string escape_controls(std::string_view text, std::size_t max_chars = 4096);

}  // namespace muster
