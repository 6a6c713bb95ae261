#pragma once

#include <string_view>

#include "core/model/reading.h"

namespace muster {

// A value as the NVIDIA tools print it: "69.32 W", "97 %", "132 MiB", "0x4", "[N/A]", "-", "GPU is
// lost", "Active". The unit, where one is printed, scales to the unit of the metric table (MiB to
// bytes, mW to W); `scale` is that of the column where the cell has no unit. A text that is neither
// a number nor a known word is Absence::malformed; the number is never guessed.
Reading parse_cell(std::string_view cell, double scale = 1);

}  // namespace muster
