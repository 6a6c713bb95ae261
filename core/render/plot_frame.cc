#include "core/render/plot_frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace muster {

std::size_t plot_column(const PlotFrame& frame, double x) {
  const double width = frame.x_high - frame.x_low;
  const double share = width > 0 ? std::clamp((x - frame.x_low) / width, 0.0, 1.0) : 0;
  const auto count = static_cast<double>(frame.columns.size());
  return std::min(static_cast<std::size_t>(share * count), frame.columns.size() - 1);
}

PlotFrame frame_plot(const Plot& plot, std::size_t columns) {
  PlotFrame frame;
  std::vector<double> values;
  const std::size_t n = std::min(plot.x.size(), plot.y.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(plot.y[i]) && std::isfinite(plot.x[i])) values.push_back(plot.y[i]);
  }
  if (values.empty() || columns == 0) return frame;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  const double middle = at(0.5), room = 0.1 * std::abs(middle);
  const double top = std::max(at(0.98) + 0.1 * (at(0.98) - at(0.02)), middle + room);
  frame.y_high = values.back() <= top * 1.2 ? std::max(values.back(), middle + room) : top;
  frame.y_low = std::min(at(0.0), middle - room);
  if (frame.y_high <= frame.y_low) frame.y_high = frame.y_low + 1;
  frame.columns.resize(columns);
  std::vector<std::vector<double>> cells(columns);
  bool first = true;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(plot.x[i])) continue;
    frame.x_low = first ? plot.x[i] : std::min(frame.x_low, plot.x[i]);
    frame.x_high = first ? plot.x[i] : std::max(frame.x_high, plot.x[i]);
    first = false;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(plot.y[i]) || !std::isfinite(plot.x[i])) continue;
    if (plot.y[i] > frame.y_high) ++frame.above;
    cells[plot_column(frame, plot.x[i])].push_back(plot.y[i]);
  }
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double>& cell = cells[c];
    if (cell.empty()) continue;
    std::sort(cell.begin(), cell.end());
    frame.columns[c] = {true, cell.front(), cell.back(), cell[cell.size() / 2]};
  }
  return frame;
}

std::string plot_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e12 || (size > 0 && size < 1e-3)) return fmt::format("{:.0e}", value);
  if (size >= 1e9) return fmt::format("{:.1f}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.1f}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.1f}k", value / 1e3);
  if (size >= 100) return fmt::format("{:.0f}", value);
  return size >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

}  // namespace muster
