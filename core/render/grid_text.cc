#include "core/render/grid_text.h"

#include <algorithm>

#include "core/render/cells.h"

namespace muster {
namespace {

constexpr std::size_t kIndent = 2, kGap = 2;

// Widths that fit: as wide as the widest cell, the widest columns cut first.
std::vector<std::size_t> widths_of(const Grid& grid, std::size_t width) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < grid.columns.size(); ++c) {
    std::size_t widest = grid.columns[c].size();
    for (const auto& row : grid.rows) widest = std::max(widest, row[c].size());
    widths.push_back(std::min(widest, width));
  }
  const auto total = [&] {
    std::size_t sum = kIndent;
    for (const std::size_t w : widths) sum += w + kGap;
    return sum;
  };
  while (!widths.empty() && total() > width + kGap) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= 4) break;
    --*widest;
  }
  return widths;
}

}  // namespace

std::string render_grid(const Grid& grid, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(grid, width);
  std::string out = plain_cell(grid.title, width) + "\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(kIndent, ' ');
    for (std::size_t c = 0; c < widths.size(); ++c) {
      text += pad_right(plain_cell(cells[c], widths[c]), widths[c] + kGap);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  line(grid.columns);
  for (const auto& row : grid.rows) line(row);
  if (!grid.legend.empty()) out += "  " + plain_cell(grid.legend, width) + "\n";
  return out;
}

}  // namespace muster
