#include "cmd/settings.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "cmd/telemetry_options.h"
#include "edge/config/config.h"
#include "edge/net/http_server.h"

namespace muster {
namespace {

ConfigValue target_value(const OptionRow& row) {
  switch (row.type) {
    case OptionRow::Type::number:
      return *static_cast<const double*>(row.target);
    case OptionRow::Type::list:
      return *static_cast<const std::vector<std::string>*>(row.target);
    default:
      MUSTER_CHECK(row.type == OptionRow::Type::text, "this type of option has a key");
      return *static_cast<const std::string*>(row.target);
  }
}

void set_target(const OptionRow& row, const ConfigValue& value) {
  MUSTER_CHECK(value.index() == target_value(row).index(), "option and key have one type");
  if (const auto* text = std::get_if<std::string>(&value)) {
    *static_cast<std::string*>(row.target) = *text;
  } else if (const auto* number = std::get_if<double>(&value)) {
    *static_cast<double*>(row.target) = *number;
  } else {
    *static_cast<std::vector<std::string>*>(row.target) = std::get<std::vector<std::string>>(value);
  }
}

// "-f,--follow" -> "--follow"
std::string_view long_name(const OptionRow& row) {
  return split(row.names, ',').back();
}

// An option that was given; empty text takes back what a file says.
Status check_given(const OptionRow& row, const ConfigKey& key) {
  const ConfigValue value = target_value(row);
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && text->empty()) {
    return {};
  }
  if (Status fine = check_config_value(key, value); !fine) return fine;
  return check_meaning(row.key, value);
}

// Where the value comes from, for those that somebody set.
std::string apply_one(const OptionRow& row, const Config& config, Status& fine) {
  const ConfigSetting& setting = config.setting(row.key);
  if (row.given) {
    fine = check_given(row, *setting.key);
    if (!fine) fine = within(long_name(row), fine.error());
    return "";
  }
  if (!setting.value) return "";
  set_target(row, *setting.value);
  fine = check_meaning(row.key, *setting.value);
  if (!fine) fine = within(fmt::format("{}: {}", setting.where, row.key), fine.error());
  if (setting.origin == ConfigOrigin::fallback) return "";
  return fmt::format("{} ({})", row.key, setting.where);
}

}  // namespace

std::optional<ExitStatus> apply_settings(const Parsed& parsed, Files& files,
                                         const Environment& environment, Console& console) {
  std::optional<Config> config;
  std::string said;
  for (const OptionRow& row : parsed.options) {
    if (row.key.empty()) continue;
    if (!config) {
      auto read = read_config(files, environment, {parsed.config_file, ""});
      if (!read) return console.fail(read.error());
      config = std::move(*read);
    }
    Status fine;
    const std::string origin = apply_one(row, *config, fine);
    if (!fine) config->complaints.push_back(fine.error().context);
    if (!origin.empty()) said += (said.empty() ? "" : ", ") + origin;
  }
  if (!config) return std::nullopt;
  for (const std::string& sentence : config->found.distrusted) console.complain(sentence);
  for (const std::string& complaint : config->complaints) console.complain(complaint);
  if (!config->complaints.empty()) return ExitStatus::usage;
  if (!said.empty()) console.complain("settings: " + said);
  return std::nullopt;
}

Status check_meaning(std::string_view key, const ConfigValue& value) {
  if (key == "agent.listen") {
    const auto listen = parse_listen(std::get<std::string>(value));
    if (!listen) return listen.error();
  }
  if (key == "triage.tz") {
    for (const std::string& text : std::get<std::vector<std::string>>(value)) {
      const auto zone = parse_zone(text);
      if (!zone) return zone.error();
    }
  }
  return {};
}

}  // namespace muster
