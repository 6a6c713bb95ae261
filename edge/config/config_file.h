#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edge/config/config_value.h"

namespace muster {

struct ConfigEntry {
  const ConfigKey* key = nullptr;
  ConfigValue value;
  std::uint32_t line = 0;  // from 1
};

// What a file says: every value that fits the table (config_table.h), and a complaint for each key
// that is not known ("did you mean"), of another type or out of its range. A complaint begins with
// "NAME:LINE:COLUMN: ". Where the file is not TOML at all there is one complaint and no entry.
struct ConfigFile {
  std::vector<ConfigEntry> entries;
  std::vector<std::string>
      complaints;  // at most 20, in the order of the file; the last may say how many more
};

// Pure; `name` stands in complaints, and its folder before relative paths. At most
// limits::kConfigBytes are looked at: a longer text is a complaint.
ConfigFile parse_config(const std::string& text, const std::string& name);

}  // namespace muster
