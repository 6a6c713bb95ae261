#pragma once

#include <string>
#include <vector>

#include "core/model/plot.h"

namespace muster {

// The plots one below another as one SVG document: self-contained, no script, no font and no image
// from elsewhere. Text from outside is escaped; what XML cannot hold becomes "?". `answer` is the
// line above them, empty for none.
std::string render_svg(const std::vector<Plot>& plots, const std::string& answer);

}  // namespace muster
