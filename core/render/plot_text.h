#pragma once

#include <cstddef>
#include <string>

#include "core/model/plot.h"

namespace muster {

struct PlotStyle {
  std::size_t width = 80;   // columns of the whole, at least 40
  std::size_t height = 12;  // lines of the whole, at least 6
  bool unicode = true;      // braille dots; false: ASCII
};

// The plot for a terminal: a title, the curve with its scale, marks, the range of x. Each line has
// at most `width` columns. Text from outside is escaped. Empty for a plot without a value. Values
// beyond the scale stand as "^" in its highest line.
std::string render_plot(const Plot& plot, const PlotStyle& style);

}  // namespace muster
