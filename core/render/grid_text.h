#pragma once

#include <string>

#include "core/model/grid.h"

namespace muster {

// The grid as lines of at most `width` columns: cells are cut with "~", columns share what room
// there is. Text from outside is escaped.
std::string render_grid(const Grid& grid, std::size_t width);

}  // namespace muster
