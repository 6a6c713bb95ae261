#include "core/telemetry/cell.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/plain_number.h"
#include "base/text.h"

namespace muster {
namespace {

struct Word {
  std::string_view text;  // lower case, without brackets
  Absence absence;
};
constexpr Word kAbsences[] = {
    {"", Absence::not_reported},
    {"-", Absence::not_reported},
    {"n/a", Absence::not_reported},
    {"not found", Absence::not_reported},
    {"unknown", Absence::not_reported},
    {"disabled", Absence::not_reported},
    {"not supported", Absence::unsupported},
    {"requested functionality has been deprecated", Absence::unsupported},
    {"insufficient permissions", Absence::permission},
    {"gpu is lost", Absence::lost},
    {"gpu requires reset", Absence::needs_reset},
    {"unknown error", Absence::read_error},
    {"err!", Absence::read_error},
    {"nan", Absence::read_error},
};

struct Unit {
  std::string_view text;
  double scale;
};
constexpr Unit kUnits[] = {
    {"W", 1},           {"%", 1},     {"MHz", 1},      {"C", 1},
    {"MiB", 1048576.0}, {"mW", 1e-3}, {"KiB", 1024.0}, {"GiB", 1073741824.0},
    {"B", 1},           {"bytes", 1}, {"us", 1},       {"x", 1},
    {"J", 1},           {"mJ", 1e-3}, {"MB", 1e6},     {"GB", 1e9},
};

std::optional<double> unit_scale(std::string_view unit) {
  for (const Unit& u : kUnits) {
    if (u.text == unit) return u.scale;
  }
  return std::nullopt;
}

// Unit in front of the table's search: the four that fill nearly every cell.
double common_scale(std::string_view unit) {
  if (unit.size() == 2) return unit == " W" || unit == " %" ? 1 : 0;
  if (unit.size() != 4) return 0;
  if (unit == " MHz") return 1;
  return unit == " MiB" ? 1048576.0 : 0;
}

Reading parse_word(std::string_view cell) {
  if (cell.starts_with('[') && cell.ends_with(']')) cell = cell.substr(1, cell.size() - 2);
  for (const Word& word : kAbsences) {
    if (equals_ignoring_case(word.text, cell)) return Reading::absent(word.absence);
  }
  if (cell == "Active" || cell == "Enabled" || cell == "Yes") return Reading::of(1);
  if (cell == "Not Active" || cell == "No") return Reading::of(0);
  if (cell.size() > 1 && cell[0] == 'P') {  // performance state
    if (const auto state = parse_uint(cell.substr(1)); state && *state <= 15) {
      return Reading::of(static_cast<double>(*state));
    }
  }
  return Reading::absent(Absence::malformed);
}

}  // namespace

Reading parse_cell(std::string_view cell, double scale) {
  cell = trim(cell);
  if (cell.empty()) return Reading::absent(Absence::not_reported);
  if (cell.size() > 2 && cell[0] == '0' && (cell[1] == 'x' || cell[1] == 'X')) {
    const auto mask = parse_hex(cell);
    return mask ? Reading::of(static_cast<double>(*mask)) : Reading::absent(Absence::malformed);
  }
  double value = 0;
  if (const std::size_t n = read_plain_number(cell, value); n > 0) {
    if (n == cell.size()) return Reading::of(value * scale);
    if (const double known = common_scale(cell.substr(n)); known > 0) {
      return Reading::of(value * known);
    }
  }
  const char* end = cell.data() + cell.size();
  const auto [ptr, ec] = std::from_chars(cell.data(), end, value);
  if (ec != std::errc()) return parse_word(cell);
  if (!std::isfinite(value)) return Reading::absent(Absence::read_error);
  if (ptr == end) return Reading::of(value * scale);
  const auto unit = unit_scale(trim(std::string_view(ptr, static_cast<std::size_t>(end - ptr))));
  return unit ? Reading::of(value * *unit) : Reading::absent(Absence::malformed);
}

}  // namespace muster
