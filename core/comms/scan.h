#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/text.h"

// Cursor steps over a text: each takes what it found off the front of `text`, or leaves it alone.

namespace muster::comms {

inline bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

inline void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

// Digits with an optional minus in front; beyond 64 bits is nothing.
inline std::optional<std::int64_t> take_int(std::string_view& text) {
  std::size_t end = text.starts_with('-') ? 1 : 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  const auto value = parse_int(text.substr(0, end));
  if (value) text.remove_prefix(end);
  return value;
}

// A rank or a task: 0 to 2^24, far above any job.
inline std::optional<std::int32_t> take_rank(std::string_view& text) {
  std::string_view rest = text;
  const auto value = take_int(rest);
  if (!value || *value < 0 || *value > (1 << 24)) return std::nullopt;
  text = rest;
  return static_cast<std::int32_t>(*value);
}

// The text up to `stop`, which is taken too; nothing where `stop` does not come.
inline std::optional<std::string_view> take_until(std::string_view& text, std::string_view stop) {
  const std::size_t at = text.find(stop);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(at + stop.size());
  return piece;
}

// What stands behind `mark`; nothing where it does not come.
inline std::optional<std::string_view> behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + mark.size());
}

// The whole number behind `mark`, blanks between.
inline std::optional<std::int64_t> int_behind(std::string_view text, std::string_view mark) {
  auto rest = behind(text, mark);
  if (!rest) return std::nullopt;
  skip_blanks(*rest);
  return take_int(*rest);
}

}  // namespace muster::comms
