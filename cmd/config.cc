#include <fmt/core.h>

#include <memory>
#include <string>

#include "base/text.h"
#include "cmd/settings.h"
#include "cmd/verbs.h"
#include "core/model/json_writer.h"
#include "core/model/run_layout.h"
#include "edge/config/calibration_file.h"
#include "edge/config/config.h"
#include "edge/config/run_spec_file.h"
#include "edge/os/home.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster config check                         which file, what holds, and why\n"
    "  muster config check --run /shared/run-17    as the verbs of that run will see it\n"
    "  MUSTER_CONFIG=/dev/null muster config check without any file\n"
    "\n"
    "Exit status: 0 all is well, 64 a wrong value, 65 a file that cannot be read.";

constexpr std::string_view kOrigins[] = {"none", "default", "file", "environment"};

void say_json(const Config& config, Console& console) {
  JsonWriter w;
  w.begin_object().key("schema").value("muster.config/1").key("file");
  config.found.path.empty() ? w.null() : w.value(config.found.path);
  w.key("looked").begin_array();
  for (const ConfigLook& look : config.found.looks) {
    w.begin_object().key("path").value(look.path).key("place").value(look.place);
    w.key("outcome").value(look.outcome).end_object();
  }
  w.end_array().key("settings").begin_array();
  for (const ConfigSetting& setting : config.settings) {
    w.begin_object().key("key").value(full_name(*setting.key)).key("value");
    if (!setting.value) {
      w.null();
    } else if (const auto* number = std::get_if<double>(&*setting.value)) {
      w.value(*number);
    } else if (const auto* text = std::get_if<std::string>(&*setting.value)) {
      w.value(*text);
    } else {
      w.begin_array();
      for (const auto& item : std::get<std::vector<std::string>>(*setting.value)) w.value(item);
      w.end_array();
    }
    w.key("origin").value(kOrigins[static_cast<int>(setting.origin)]);
    w.key("where").value(setting.where).end_object();
  }
  w.end_array().key("complaints").begin_array();
  for (const std::string& complaint : config.complaints) w.value(complaint);
  console.print(w.end_array().end_object().take() + "\n");
}

void say_text(const Config& config, Console& console) {
  console.print(config.found.path.empty()
                    ? "no muster.toml is read\n"
                    : fmt::format("{} is read, alone\n", escape_controls(config.found.path)));
  for (const ConfigLook& look : config.found.looks) {
    console.print(
        fmt::format("  {}: {}: {}\n", look.place, escape_controls(look.path), look.outcome));
  }
  for (const ConfigSetting& setting : config.settings) {
    const std::string value =
        setting.value ? escape_controls(config_value_text(*setting.value)) : "-";
    console.print(fmt::format("{:<20} {:<32} {}\n", full_name(*setting.key), value,
                              escape_controls(setting.where)));
  }
}

class ConfigCheckVerb final : public Verb {
 public:
  std::string_view name() const override { return "config check"; }
  std::string_view summary() const override {
    return "which muster.toml is read, what holds, and who says so?";
  }
  void declare(VerbOptions& options) override {
    options.text("--config", &choice_.file, "FILE", "this muster.toml and no other");
    options.text("--run", &choice_.run_folder, "DIR",
                 "the folder of a run: its muster.toml goes first, its run.toml is checked too");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    auto config = read_config(real_files(), real_environment(), choice_);
    if (!config) return console.fail(config.error());
    for (ConfigSetting& setting : config->settings) look_closer(setting, config->complaints);
    if (Status run = check_run(config->complaints); !run) return console.fail(run.error());
    console.json() ? say_json(*config, console) : say_text(*config, console);
    for (const std::string& sentence : config->found.distrusted) console.complain(sentence);
    for (const std::string& complaint : config->complaints) console.complain(complaint);
    return config->complaints.empty() ? ExitStatus::ok : ExitStatus::usage;
  }

 private:
  // What only a look at the machine shows.
  static void look_closer(ConfigSetting& setting, std::vector<std::string>& complaints) {
    const std::string name = full_name(*setting.key);
    Status fine;
    if (name == "home") {
      auto path =
          home_path(real_environment(), setting.value ? std::get<std::string>(*setting.value) : "");
      if (!path) {
        fine = path.error();
      } else if (!setting.value) {
        setting = {setting.key, std::move(*path), ConfigOrigin::fallback, "default"};
      }
    } else if (name == "triage.calibration" && setting.value) {
      const auto read = read_calibration(real_files(), std::get<std::string>(*setting.value));
      if (!read) fine = read.error();
    } else if (setting.value) {
      fine = check_meaning(name, *setting.value);
    }
    if (!fine)
      complaints.push_back(fmt::format("{}: {}: {}", setting.where, name, fine.error().context));
  }

  // A folder that is no run yet has no run.toml, and nothing is wrong with that.
  Status check_run(std::vector<std::string>& complaints) const {
    if (choice_.run_folder.empty()) return {};
    const auto folder = real_files().list(choice_.run_folder);
    if (!folder) return within("--run", folder.error());
    const std::string path = RunLayout(choice_.run_folder).run_toml();
    if (!real_files().stat(path)) return {};
    const auto spec = read_run_spec(real_files(), path);
    if (!spec) complaints.push_back(spec.error().context);
    return {};
  }

  ConfigChoice choice_;
};

}  // namespace

std::unique_ptr<Verb> make_config_check_verb() {
  return std::make_unique<ConfigCheckVerb>();
}

}  // namespace muster
