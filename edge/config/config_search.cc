#include "edge/config/config_search.h"

#include <fmt/core.h>

#include "base/limits.h"

namespace muster {
namespace {

constexpr std::string_view kName = "muster.toml";
constexpr std::string_view kWorkingFolder = "the working folder";

std::string in_folder(std::string folder) {
  if (!folder.empty() && folder.back() != '/') folder += '/';
  return folder.append(kName);
}

// $XDG_CONFIG_HOME, which counts only where it is absolute, or ~/.config; empty: there is no home.
std::string user_folder(const Environment& environment) {
  const std::string own = environment.get("XDG_CONFIG_HOME").value_or("");
  if (own.starts_with('/')) return own + "/muster";
  const std::string home = environment.get("HOME").value_or("");
  return home.empty() ? "" : home + "/.config/muster";
}

std::vector<ConfigLook> places_of(const Environment& environment, const ConfigChoice& choice) {
  std::vector<ConfigLook> out;
  if (!choice.run_folder.empty()) {
    out.push_back({in_folder(choice.run_folder), "the folder of the run", ""});
  }
  out.push_back({std::string(kName), kWorkingFolder, ""});
  if (const std::string folder = user_folder(environment); !folder.empty()) {
    out.push_back({in_folder(folder), "the folder of the user", ""});
  }
  out.push_back({"/etc/muster/muster.toml", "the folder of the machine", ""});
  return out;
}

// Why a file that is there is passed over; empty: it is not.
std::string_view distrust(const ConfigLook& look, const FileInfo& info) {
  if (look.place != kWorkingFolder) return "";
  if (info.writer == FileInfo::Writer::another_user) return "not read: it belongs to another user";
  if (info.writer == FileInfo::Writer::anybody) return "not read: anybody may write it";
  return "";
}

Result<FoundConfig> read(Files& files, FoundConfig found, ConfigLook look) {
  auto text = read_whole(files, look.path, limits::kConfigBytes, limits::kConfigPatience);
  if (!text) return text.error();
  look.outcome = "read";
  found.path = look.path;
  found.text = std::move(*text);
  found.looks.push_back(std::move(look));
  return found;
}

}  // namespace

Result<FoundConfig> find_config(Files& files, const Environment& environment,
                                const ConfigChoice& choice) {
  const std::string variable = environment.get("MUSTER_CONFIG").value_or("");
  if (!choice.file.empty() || !variable.empty()) {
    ConfigLook named{choice.file, "--config", ""};
    if (choice.file.empty()) named = {variable, "MUSTER_CONFIG", ""};
    const auto info = files.stat(named.path);  // "-" is no file here
    if (!info) return within(named.place, info.error());
    auto found = read(files, {}, named);
    if (!found) return within(named.place, found.error());
    return found;
  }
  FoundConfig found;
  for (ConfigLook& look : places_of(environment, choice)) {
    const auto info = files.stat(look.path);
    if (info) look.outcome = distrust(look, *info);
    if (!look.outcome.empty()) {
      found.distrusted.push_back(fmt::format("{} in {} is {} (--config {} takes it all the same)",
                                             look.path, look.place, look.outcome, look.path));
      found.looks.push_back(std::move(look));
      continue;
    }
    if (info && info->type == FileInfo::Type::file) return read(files, std::move(found), look);
    if (info) {
      return make_error(Errc::invalid_input,
                        fmt::format("{} ({}) is no file", look.path, look.place));
    }
    if (info.error().code != Errc::not_found && info.error().code != Errc::permission) {
      return info.error();
    }
    look.outcome = info.error().code == Errc::not_found ? "not there" : "not permitted to look";
    found.looks.push_back(std::move(look));
  }
  return found;
}

}  // namespace muster
