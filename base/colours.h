#pragma once

#include <string>
#include <string_view>

namespace muster {

// The line without the escape sequences that colour it on a terminal (ESC, "[", up to its final
// byte). A lone ESC goes as well; all other bytes stay.
std::string without_colours(std::string_view line);

}  // namespace muster
