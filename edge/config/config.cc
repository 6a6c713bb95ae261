#include "edge/config/config.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "edge/config/config_file.h"

namespace muster {
namespace {

ConfigSetting setting_of(const ConfigKey& key, const ConfigFile& file, const std::string& path,
                         const Environment& environment, std::vector<std::string>& complaints) {
  const std::string variable = environment_name(key);
  if (const std::string text = environment.get(variable).value_or(""); !text.empty()) {
    auto value = parse_config_value(key, text);
    if (value) return {&key, std::move(*value), ConfigOrigin::environment, variable};
    complaints.push_back(within(variable, value.error()).context);
  }
  for (const ConfigEntry& entry : file.entries) {
    if (entry.key != &key) continue;
    return {&key, entry.value, ConfigOrigin::file, fmt::format("{}:{}", path, entry.line)};
  }
  if (key.fallback.empty()) return {&key, std::nullopt, ConfigOrigin::none, "not set"};
  auto fallback = parse_config_value(key, key.fallback);
  MUSTER_CHECK(fallback.has_value(), "the defaults of the table fit the table");
  return {&key, std::move(*fallback), ConfigOrigin::fallback, "default"};
}

}  // namespace

const ConfigSetting& Config::setting(std::string_view name) const {
  const auto row = std::find_if(settings.begin(), settings.end(), [name](const auto& setting) {
    return full_name(*setting.key) == name;
  });
  MUSTER_CHECK(row != settings.end(), "the key stands in the table");
  return *row;
}

Result<Config> read_config(Files& files, const Environment& environment,
                           const ConfigChoice& choice) {
  auto found = find_config(files, environment, choice);
  if (!found) return found.error();
  Config config;
  config.found = std::move(*found);
  ConfigFile file = parse_config(config.found.text, config.found.path);
  config.complaints = std::move(file.complaints);
  for (const ConfigKey& key : config_table()) {
    config.settings.push_back(
        setting_of(key, file, config.found.path, environment, config.complaints));
  }
  return config;
}

}  // namespace muster
