#pragma once

#include <string_view>

namespace muster {

inline constexpr std::string_view kVersionText = "muster 0.1.0";

}  // namespace muster
