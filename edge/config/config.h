#pragma once

#include <optional>
#include <string>
#include <vector>

#include "edge/config/config_search.h"
#include "edge/config/config_value.h"

namespace muster {

enum class ConfigOrigin : std::uint8_t { none, fallback, file, environment };

// What holds for one key, and why.
struct ConfigSetting {
  const ConfigKey* key = nullptr;
  std::optional<ConfigValue> value;  // nothing: nobody says anything, and there is no default
  ConfigOrigin origin = ConfigOrigin::none;
  std::string where;  // "not set", "default", "muster.toml:3", "MUSTER_TRIAGE_RULE"
};

struct Config {
  FoundConfig found;
  std::vector<ConfigSetting> settings;  // every key of the table, in its order
  std::vector<std::string> complaints;  // of the file and of the environment; empty: all is well

  // Of a full name of the table, "triage.rule".
  const ConfigSetting& setting(std::string_view name) const;
};

// The environment goes before the file, the file before the default; a variable that is set and
// empty is not set. A wrong value is complained about and does not count. Errors are those of
// find_config.
Result<Config> read_config(Files& files, const Environment& environment,
                           const ConfigChoice& choice);

}  // namespace muster
