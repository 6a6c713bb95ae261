#include "core/telemetry/blank_cells.h"

#include "core/telemetry/byte_scan.h"

namespace muster {

void split_blanks(std::string_view line, std::vector<std::string_view>& cells, std::size_t limit) {
  cells.clear();
  const char* from = nullptr;  // of the cell that is open
  const auto edge = [&](const char* at) {
    if (from == nullptr) {
      from = at;
      return true;
    }
    cells.emplace_back(from, static_cast<std::size_t>(at - from));
    from = nullptr;
    return cells.size() < limit;
  };
  const char* at = line.data();
  const char* const end = at + line.size();
  std::uint64_t before = 0x80;  // the byte before is blank
  for (; end - at >= 8; at += 8) {
    const std::uint64_t bytes = load_bytes(at);
    const std::uint64_t blank = bytes_equal(bytes, ' ') | bytes_equal(bytes, '\t');
    // Where a byte differs from the one before, a cell begins or ends.
    for (std::uint64_t edges = blank ^ (blank << 8 | before); edges != 0; edges &= edges - 1) {
      if (!edge(at + first_byte(edges))) return;
    }
    before = blank >> 56;
  }
  for (; at != end; ++at) {
    if ((*at == ' ' || *at == '\t') == (from != nullptr) && !edge(at)) return;
  }
  if (from != nullptr) edge(end);
}

}  // namespace muster
