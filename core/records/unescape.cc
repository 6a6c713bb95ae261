#include "core/records/unescape.h"

#include <charconv>
#include <cstdint>
#include <cstring>

namespace muster::records {
namespace {

// Four digits at the front of `text`.
std::optional<std::uint32_t> four_digits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, value, 16);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  return value;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

// `text` stands behind "\u"; takes what belongs to the character.
std::optional<Fault> take_unicode(std::string_view& text, std::string& out, bool& nul) {
  const auto first = four_digits(text);
  if (!first) return Fault::bad_escape;
  text.remove_prefix(4);
  std::uint32_t code = *first;
  if (code >= 0xDC00 && code < 0xE000) return Fault::lone_surrogate;
  if (code >= 0xD800 && code < 0xDC00) {
    if (!text.starts_with("\\u")) return Fault::lone_surrogate;
    const auto second = four_digits(text.substr(2));
    if (!second) return Fault::bad_escape;
    if (*second < 0xDC00 || *second >= 0xE000) return Fault::lone_surrogate;
    text.remove_prefix(6);
    code = 0x10000 + ((code - 0xD800) << 10) + (*second - 0xDC00);
  }
  nul = nul || code == 0;
  append_utf8(code, out);
  return std::nullopt;
}

}  // namespace

std::optional<Fault> unescape(std::string_view quoted, std::string& out, bool& nul) {
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return Fault::not_json;
  std::string_view text = quoted.substr(1, quoted.size() - 2);
  out.reserve(out.size() + text.size());
  for (;;) {
    const std::size_t at = text.find('\\');
    out += text.substr(0, at);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + 1);
    if (text.empty()) return Fault::bad_escape;
    const char c = text.front();
    text.remove_prefix(1);
    if (c == 'u') {
      if (const auto fault = take_unicode(text, out, nul)) return fault;
      continue;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t which = kEscapes.find(c);
    if (which == std::string_view::npos) return Fault::bad_escape;
    out += kMeanings[which];
  }
}

}  // namespace muster::records
