#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace muster {

// The pieces of a line that stand between blanks and tabs: tables of tools that align their
// columns. Views into `line`; at most `limit`, the rest is left out.
void split_blanks(std::string_view line, std::vector<std::string_view>& cells, std::size_t limit);

}  // namespace muster
