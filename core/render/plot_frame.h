#pragma once

#include <string>
#include <vector>

#include "core/model/plot.h"

namespace muster {

// What a plot shows of its values, whatever draws it: the range of y and the values of each column.
struct PlotColumn {
  bool any = false;
  double low = 0, high = 0, middle = 0;  // of the values in the column
};
struct PlotFrame {
  double x_low = 0, x_high = 0;
  // At least 10 % to both sides of the median, so that noise looks like noise; at most what 98 % of
  // the values need and a little more, so that one slow first step does not flatten the rest.
  double y_low = 0, y_high = 0;
  std::vector<PlotColumn> columns;
  std::size_t above = 0;  // values beyond y_high
};

// No columns for a plot without a value.
PlotFrame frame_plot(const Plot& plot, std::size_t columns);

// The column of `x`, below frame.columns.size().
std::size_t plot_column(const PlotFrame& frame, double x);

// "4.95", "53.1k", "0.42": at most 7 characters.
std::string plot_number(double value);

}  // namespace muster
