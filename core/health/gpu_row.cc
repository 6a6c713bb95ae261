#include "core/health/gpu_row.h"

#include <cmath>

#include "base/text.h"
#include "core/health/judge.h"

namespace muster::health {

std::optional<double> GpuRow::number(GpuCell which) const {
  const auto value = parse_double(cell(which));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::string_view> GpuRow::word(GpuCell which) const {
  const std::string_view text = cell(which);
  if (text.empty() || text.starts_with('[') || text == "N/A") return std::nullopt;
  return text;
}

std::optional<std::string_view> GpuRow::lost() const {
  for (const std::string_view text : cells) {
    if (says_lost(text)) return text;
  }
  return std::nullopt;
}

bool says_lost(std::string_view line) {
  return contains_ignoring_case(line, "gpu is lost") || contains_ignoring_case(line, "is lost") ||
         contains_ignoring_case(line, "unable to determine the device handle") ||
         contains_ignoring_case(line, "fallen off the bus") ||
         contains_ignoring_case(line, "[unknown error]") || line == "ERR!";
}

GpuTable gpu_table(const ProbeAnswer& answer) {
  GpuTable out;
  for (const std::string_view line : lines_of(output_of(answer))) {
    if (trim(line).empty()) continue;
    const auto cells = split(line, ',');
    GpuRow row;
    if (cells.size() != row.cells.size() || !parse_uint(trim(cells[0]))) {
      out.complaints.push_back(trim(line));
      continue;
    }
    for (std::size_t i = 0; i < cells.size(); ++i) row.cells[i] = trim(cells[i]);
    out.rows.push_back(row);
  }
  return out;
}

}  // namespace muster::health
