#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/finding.h"
#include "core/model/fleet_view.h"
#include "core/render/top_state.h"

// One screen of `muster top` as values; edge/os/terminal.h shows it.

namespace muster {

enum class FrameStyle : std::uint8_t { title, good, notice, warning, alarm, dim };

struct StyleSpan {
  std::size_t from = 0, to = 0;  // columns of the line, `to` excluded
  FrameStyle style = FrameStyle::title;
  bool operator==(const StyleSpan&) const = default;
};

// Printable ASCII of at most the state's columns: one byte is one column.
struct FrameLine {
  std::string text;
  std::vector<StyleSpan> spans;  // in order, apart from each other
  bool operator==(const FrameLine&) const = default;
};

struct TopFrame {
  std::vector<FrameLine> lines;  // at most the state's rows
  std::size_t scroll_max = 0;    // greatest scroll that still fills the window
};

// Head (time in UTC, run, phase, bands), the worst finding, the table and the keys. One row a GPU,
// or one row a host where the GPUs do not fit: its worst phase, median power and utilization,
// oldest value, the labels of its odd GPUs and, up to eight a host, a bar for each. "*" marks the
// GPU that stands out; a value that is missing or too old to be judged is "-". The bar is the share
// of the power limit (`GpuView::power_ratio`). A window under 40 x 8 gets one line that says so.
TopFrame render_top(const FleetView& view, const Report& report, const TopState& state);

}  // namespace muster
