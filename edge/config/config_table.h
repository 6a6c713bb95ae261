#pragma once

#include <span>
#include <string>
#include <string_view>

// The one table of keys of muster.toml. It rules what is known, what a value may be, and what holds
// where nothing is said. docs/FORMATS.md shows it; a test compares.

namespace muster {

enum class ConfigType : std::uint8_t {
  text,
  path,    // in the file: relative to the folder of the file
  word,    // one of `words`
  number,  // from `min` to `max`
  texts,   // a list; in the environment with blanks between
};

struct ConfigKey {
  std::string_view section;  // empty: at the top of the file
  std::string_view name;     // with its unit as last word
  ConfigType type = ConfigType::text;
  std::string_view fallback;  // what holds by default, as the environment would say it; or nothing
  std::string_view meaning;
  double min = 0, max = 0;
  std::span<const std::string_view> words = {};
};

// Keys of one section stand together; those without a section come first.
std::span<const ConfigKey> config_table();

// "triage.interval_s", "home"
std::string full_name(const ConfigKey& key);
// Of a full name; nullptr where the table has none.
const ConfigKey* find_config_key(std::string_view name);

// The variable of the environment, by one rule for all: MUSTER_, the section, the name, in capitals
// with "_" between. [triage] interval_s -> MUSTER_TRIAGE_INTERVAL_S, home -> MUSTER_HOME.
std::string environment_name(const ConfigKey& key);

// What a value may be, in words: "a number from 0.1 to 3600".
std::string expected_value(const ConfigKey& key);

}  // namespace muster
