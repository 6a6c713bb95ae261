#include "base/text.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

#include "base/plain_number.h"

namespace muster {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <typename T, typename... Base>
std::optional<T> parse_whole(std::string_view text, Base... base) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [ptr, ec] = std::from_chars(text.data(), end, value, base...);
  if (text.empty() || ec != std::errc() || ptr != end) return std::nullopt;
  return value;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  if (!text.empty() && read_plain_number(text, value) == text.size()) return value;
  return parse_whole<double>(text);
}
std::optional<std::int64_t> parse_int(std::string_view text) {
  return parse_whole<std::int64_t>(text);
}
std::optional<std::uint64_t> parse_uint(std::string_view text) {
  return parse_whole<std::uint64_t>(text);
}
std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  return parse_whole<std::uint64_t>(text.substr(2), 16);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

bool contains_ignoring_case(std::string_view haystack, std::string_view needle) {
  if (needle.empty()) return true;
  for (std::size_t i = 0; i + needle.size() <= haystack.size(); ++i) {
    if (equals_ignoring_case(haystack.substr(i, needle.size()), needle)) return true;
  }
  return false;
}

std::size_t take_character(std::string_view text, std::uint32_t& code_point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || length > text.size()) return 0;
  code_point = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code_point = (code_point << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong =
      (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  return overlong || surrogate || code_point > 0x10FFFF ? 0 : length;
}

std::string_view whole_characters(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  constexpr std::size_t kLongest = 4;
  // Bytes of another encoding are cut anywhere.
  for (std::size_t back = 0; back < kLongest && back <= max_bytes; ++back) {
    const auto byte = static_cast<unsigned char>(text[max_bytes - back]);
    if ((byte & 0xC0) == 0x80) continue;
    std::uint32_t ignored = 0;
    const bool torn = back > 0 && take_character(text.substr(max_bytes - back), ignored) > back;
    return text.substr(0, torn ? max_bytes - back : max_bytes);
  }
  return text.substr(0, max_bytes);
}

bool is_unsafe_to_show(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

std::string escape_controls(std::string_view text, std::size_t max_chars) {
  std::string out;
  std::size_t chars = 0;
  std::size_t cut = 0;  // length of `out` where "..." still fits behind it
  while (!text.empty()) {
    std::uint32_t c = 0;
    const std::size_t length = take_character(text, c);
    const std::size_t taken = length == 0 ? 1 : length;
    std::string piece(text.substr(0, taken));
    if (length == 0) {
      piece = fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (c == '\n' || c == '\t') {
      piece = c == '\n' ? "\\n" : "\\t";
    } else if (is_unsafe_to_show(c)) {
      piece = c < 0x100 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{{{:04x}}}", c);
    }
    chars += piece.size() == length ? 1 : piece.size();
    if (chars > max_chars) return out.substr(0, cut) + "...";
    out += piece;
    if (chars + 3 <= max_chars) cut = out.size();
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace muster
