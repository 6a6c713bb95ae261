#include "core/site/sizes.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

// The unit behind a number; nothing for what is none.
std::optional<double> unit_of(std::string_view unit) {
  unit = trim(unit);
  if (unit.empty() || unit == "B") return 1;
  constexpr std::string_view kLetters = "KMGTPE";
  const char letter = unit.front() == 'k' ? 'K' : unit.front();
  const std::size_t power = kLetters.find(letter);
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && rest != "i" && rest != "iB" && rest != "B") return std::nullopt;
  const double base = rest == "B" ? 1000 : 1024;
  double out = 1;
  for (std::size_t i = 0; i <= power; ++i) out *= base;
  return out;
}

std::size_t number_end(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789."), text.size());
}

}  // namespace

std::optional<double> read_size(std::string_view text) {
  text = trim(text);
  const std::size_t end = number_end(text);
  const auto value = parse_double(text.substr(0, end));
  const auto unit = unit_of(text.substr(end));
  if (!value || !unit) return std::nullopt;
  return *value * *unit;
}

double size_grain(std::string_view text) {
  text = trim(text);
  const std::size_t end = number_end(text);
  const auto unit = unit_of(text.substr(end));
  const bool tenths = text.substr(0, end).find('.') != std::string_view::npos;
  return unit ? *unit * (tenths ? 0.1 : 1) : 1;
}

}  // namespace muster
