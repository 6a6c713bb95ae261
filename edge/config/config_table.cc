#include "edge/config/config_table.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster {
namespace {

constexpr std::string_view kRules[] = {"continuous", "two-samples"};

constexpr ConfigKey kTable[] = {
    {"", "home", ConfigType::path, "",
     "the folder of what Muster keeps, absolute; by default `~/.local/state/muster`"},
    {"triage", "calibration", ConfigType::path, "",
     "bands and waits of a known-good run, made by `muster calibrate`"},
    {.section = "triage",
     .name = "rule",
     .type = ConfigType::word,
     .fallback = "continuous",
     .meaning = "when a wait is a hang",
     .words = kRules},
    {"triage", "interval_s", ConfigType::number, "1", "between two looks at live sources", 0.1,
     3600},
    {"triage", "tz", ConfigType::texts, "",
     "zones of times that carry none, `ZONE` or `HOST=ZONE`; by default this machine's"},
    {"explain", "rules", ConfigType::path, "",
     "own rules for lines of logs, before the built-in ones"},
    {"check", "limits", ConfigType::texts, "",
     "limits of checks, `NAME=NUMBER`; `muster check --list` shows them"},
    {"check", "off", ConfigType::texts, "", "checks that are not made, by their ids"},
    {"check", "allow", ConfigType::texts, "",
     "words of lines of the kernel's log that mean nothing on these machines"},
    {"check", "golden", ConfigType::path, "",
     "what good hosts have, made by `muster check --learn`"},
    {"agent", "listen", ConfigType::text, "127.0.0.1:9835",
     "where the pages are served, `ADDRESS:PORT`"},
    {"agent", "interval_s", ConfigType::number, "1", "between samples", 0.1, 3600},
    {"agent", "history", ConfigType::path, "", "keep samples in this SQLite file"},
    {"agent", "keep_h", ConfigType::number, "24", "how far the history goes back", 0.01, 87600},
};

}  // namespace

std::span<const ConfigKey> config_table() {
  return kTable;
}

std::string full_name(const ConfigKey& key) {
  if (key.section.empty()) return std::string(key.name);
  return fmt::format("{}.{}", key.section, key.name);
}

const ConfigKey* find_config_key(std::string_view name) {
  const auto found = std::find_if(std::begin(kTable), std::end(kTable),
                                  [name](const ConfigKey& key) { return full_name(key) == name; });
  return found == std::end(kTable) ? nullptr : found;
}

std::string environment_name(const ConfigKey& key) {
  std::string out = "MUSTER_" + full_name(key);
  for (char& c : out) {
    if (c == '.') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string expected_value(const ConfigKey& key) {
  switch (key.type) {
    case ConfigType::text:
      return "a text";
    case ConfigType::path:
      return "a path";
    case ConfigType::number:
      return fmt::format("a number from {} to {}", key.min, key.max);
    case ConfigType::texts:
      return "a list of texts";
    case ConfigType::word:
      break;
  }
  std::string out;
  for (const std::string_view word : key.words)
    out += fmt::format("{}{}", out.empty() ? "" : " or ", word);
  return out;
}

}  // namespace muster
