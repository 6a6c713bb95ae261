#pragma once

#include <span>
#include <string_view>

namespace muster {

// Whether a line holds one of the words without which no line of a kernel log is of interest.
// Nearly all lines of any pile of logs end here, so it is what the speed of the reader hangs on.
bool has_kernel_anchor(std::string_view line);

// Those words, for whoever searches for them among others.
std::span<const std::string_view> kernel_anchors();

}  // namespace muster
