#pragma once

#include <cstddef>
#include <vector>

#include "core/render/top_frame.h"

namespace muster {

struct TopTable {
  FrameLine head;               // names of the columns
  std::vector<FrameLine> rows;  // all of them, sorted; the caller cuts the window out
};

// A row for each GPU where they fit into `room` rows, otherwise one for each host.
TopTable make_top_table(const FleetView& view, TopSort sort, std::size_t columns, std::size_t room);

FrameStyle phase_style(Phase phase);

}  // namespace muster
