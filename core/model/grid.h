#pragma once

#include <string>
#include <vector>

namespace muster {

// A small table for people. Cells may hold bytes from outside: renderers escape them.
struct Grid {
  std::string title;
  std::vector<std::string> columns;            // headings; the first is that of the row's name
  std::vector<std::vector<std::string>> rows;  // as many cells as columns
  std::string legend;
};

}  // namespace muster
