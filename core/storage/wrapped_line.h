#pragma once

#include <string>
#include <string_view>

namespace muster::storage {

// `head` on 12 columns, then the words of `text`, broken at blanks so that no line passes 80
// columns; later lines begin below the first word. Ends with a line end.
std::string wrapped_line(std::string_view head, std::string_view text);

}  // namespace muster::storage
