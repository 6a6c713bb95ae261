#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::health {

// A limit that a check may ask for. Some have no value until somebody tells or learns one: how many
// GPUs a host should have.
struct LimitRow {
  std::string_view name;  // "disk_used_percent"
  std::string_view unit;
  std::optional<double> value;
  std::string_view meaning;
};

std::span<const LimitRow> limit_table();

// What the checks hold values against, and which checks are off.
class Limits {
 public:
  // As told; else as the table has it; nothing where neither says. The name stands in the table.
  std::optional<double> number(std::string_view name) const;
  // The same for a limit that has a value in the table.
  double required(std::string_view name) const;

  // Errc::not_found for a name that no row has, Errc::invalid_input below 0 or not finite.
  Status set(std::string_view name, double value);
  // "name=value", as it stands in muster.toml and behind --limit.
  Status set_text(std::string_view text);

  // Errc::not_found for an id that no check has is for the caller to see to: it knows the checks.
  void turn_off(std::string_view check) { off_.emplace(check); }
  bool is_off(std::string_view check) const { return off_.contains(check); }

 private:
  std::map<std::string, double, std::less<>> told_;
  std::set<std::string, std::less<>> off_;
};

}  // namespace muster::health
