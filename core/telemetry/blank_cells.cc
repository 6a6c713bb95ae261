#include "core/telemetry/blank_cells.h"

namespace muster {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

void split_blanks(std::string_view line, std::vector<std::string_view>& cells, std::size_t limit) {
  cells.clear();
  std::size_t at = 0;
  while (cells.size() < limit) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) return;
    const std::size_t from = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    cells.push_back(line.substr(from, at - from));
  }
}

}  // namespace muster
