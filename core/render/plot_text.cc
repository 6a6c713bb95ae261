#include "core/render/plot_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/render/cells.h"
#include "core/render/plot_frame.h"

namespace muster {
namespace {

constexpr std::size_t kScale = 9;  // columns in front of the curve

// One cell of braille has 2 x 4 dots.
std::string braille(std::uint8_t dots) {
  if (dots == 0) return " ";
  const unsigned code = 0x2800u + dots;
  return {static_cast<char>(0xE0u | (code >> 12)), static_cast<char>(0x80u | ((code >> 6) & 0x3Fu)),
          static_cast<char>(0x80u | (code & 0x3Fu))};
}

constexpr std::uint8_t kDots[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

// Rows of dots from the top: 0 is y_high.
std::size_t row_of(const PlotFrame& frame, double y, std::size_t rows) {
  const double share = (frame.y_high - y) / (frame.y_high - frame.y_low);
  return static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(rows - 1)));
}

std::vector<std::string> in_braille(const Plot& plot, std::size_t width, std::size_t height) {
  const PlotFrame frame = frame_plot(plot, width * 2);
  std::vector<std::vector<std::uint8_t>> dots(height, std::vector<std::uint8_t>(width, 0));
  std::vector<bool> above(width, false);
  for (std::size_t x = 0; x < frame.columns.size(); ++x) {
    const PlotColumn& column = frame.columns[x];
    if (!column.any) continue;
    if (column.high > frame.y_high) above[x / 2] = true;
    const std::size_t top = row_of(frame, column.high, height * 4);
    const std::size_t bottom = row_of(frame, column.low, height * 4);
    for (std::size_t y = top; y <= bottom; ++y) dots[y / 4][x / 2] |= kDots[x % 2][y % 4];
  }
  std::vector<std::string> lines(height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      lines[y] += y == 0 && above[x] ? std::string("^") : braille(dots[y][x]);
    }
  }
  return lines;
}

std::vector<std::string> in_ascii(const Plot& plot, std::size_t width, std::size_t height) {
  const PlotFrame frame = frame_plot(plot, width);
  std::vector<std::string> lines(height, std::string(width, ' '));
  for (std::size_t x = 0; x < frame.columns.size(); ++x) {
    const PlotColumn& column = frame.columns[x];
    if (!column.any) continue;
    const std::size_t top = row_of(frame, column.high, height);
    const std::size_t bottom = row_of(frame, column.low, height);
    for (std::size_t y = top; y <= bottom; ++y) lines[y][x] = ':';
    lines[row_of(frame, column.middle, height)][x] = '*';
    if (column.high > frame.y_high) lines[0][x] = '^';
  }
  return lines;
}

// "|" where something happened, and its word where there is room.
std::string marks_line(const Plot& plot, const PlotFrame& frame, std::size_t width) {
  std::string line(width, ' ');
  std::size_t free_from = 0;
  for (const Plot::Mark& mark : plot.marks) {
    const std::size_t at = plot_column(frame, mark.x) * width / frame.columns.size();
    if (at < free_from || at >= width) continue;
    const std::string text = "|" + plain_cell(mark.text, 12);
    const std::size_t room = std::min(text.size(), width - at);
    line.replace(at, room, text, 0, room);
    free_from = at + room + 1;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

std::string render_plot(const Plot& plot, const PlotStyle& style) {
  const std::size_t width = std::max<std::size_t>(style.width, 40) - kScale - 1;
  const std::size_t height = std::max<std::size_t>(style.height, 6) - 3;
  const PlotFrame frame = frame_plot(plot, width);
  if (frame.columns.empty()) return {};
  const auto curve =
      style.unicode ? in_braille(plot, width, height) : in_ascii(plot, width, height);
  std::string out =
      plain_cell(plot.title, style.width - 12) + "  " + plain_cell(plot.y_name, 10) + "\n";
  for (std::size_t y = 0; y < height; ++y) {
    const bool told = y == 0 || y + 1 == height || y == height / 2;
    const double value = frame.y_high - (frame.y_high - frame.y_low) * static_cast<double>(y) /
                                            static_cast<double>(height - 1);
    out += pad_left(told ? plot_number(value) : "", kScale - 2) + (told ? " +" : " |");
    std::string line = curve[y];
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  if (const std::string marks = marks_line(plot, frame, width); !marks.empty()) {
    out += std::string(kScale, ' ') + marks + "\n";
  }
  const std::string low = fmt::format("{} {:.0f}", plain_cell(plot.x_name, 10), frame.x_low);
  const std::string high = fmt::format("{:.0f}", frame.x_high);
  out += std::string(kScale, ' ') + pad_right(low, width > high.size() ? width - high.size() : 1) +
         high + "\n";
  return out;
}

}  // namespace muster
