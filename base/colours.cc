#include "base/colours.h"

#include <cstddef>

namespace muster {

std::string without_colours(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
      continue;
    }
    if (i + 1 == line.size() || line[i + 1] != '[') continue;
    i += 2;
    while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
  }
  return out;
}

}  // namespace muster
