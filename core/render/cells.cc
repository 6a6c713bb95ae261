#include "core/render/cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace muster {

std::string plain_cell(std::string_view text, std::size_t columns) {
  std::string out = escape_controls(text, std::max<std::size_t>(columns * 4, 64));
  std::string ascii;
  for (const char c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      ascii += c;
    } else if (byte >= 0xC0) {
      ascii += '?';  // the lead byte stands for the whole character
    }
  }
  if (ascii.size() <= columns) return ascii;
  ascii.resize(columns);
  if (columns > 0) ascii.back() = '~';
  return ascii;
}

std::string number_cell(const Reading& reading) {
  if (!reading.has_value()) return "-";
  const double value = reading.value();
  if (!std::isfinite(value) || std::abs(value) > 999'999'999) return "#";
  return fmt::format("{:.0f}", value == 0 ? 0.0 : value);
}

std::string pad_right(std::string text, std::size_t columns) {
  if (text.size() < columns) text.append(columns - text.size(), ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t columns) {
  if (text.size() < columns) text.insert(0, columns - text.size(), ' ');
  return text;
}

}  // namespace muster
