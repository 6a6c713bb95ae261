#include "edge/os/home.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "edge/os/files.h"

namespace muster {
namespace {

Status make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    // A folder above may stand on a file system that is read-only: what is there needs no making.
    struct stat info{};
    if (::stat(folder.c_str(), &info) != 0 && ::mkdir(folder.c_str(), 0700) != 0 &&
        errno != EEXIST) {
      return errno_error("making " + escape_controls(folder), errno);
    }
    if (slash == std::string::npos) return {};
  }
}

}  // namespace

Result<std::string> home_path(const Environment& environment, const std::string& configured) {
  std::string path = environment.get("MUSTER_HOME").value_or("");
  std::string_view from = "MUSTER_HOME";
  if (path.empty()) {
    from = "home of muster.toml";
    path = configured;
  }
  if (path.empty()) {
    from = "HOME";
    path = environment.get("HOME").value_or("");
    if (path.empty()) {
      return make_error(Errc::invalid_input, "neither MUSTER_HOME nor HOME is set");
    }
    path += "/.local/state/muster";
  }
  if (path.front() != '/') {
    return make_error(Errc::invalid_input,
                      fmt::format("{}: {} is not absolute", from, escape_controls(path)));
  }
  return path;
}

Result<std::string> open_home(const Environment& environment, const std::string& configured) {
  auto path = home_path(environment, configured);
  if (!path) return path.error();
  if (Status made = make_folders(*path); !made) return made.error();
  struct stat info{};
  const std::string shown = escape_controls(*path);
  if (::stat(path->c_str(), &info) != 0) return errno_error("opening " + shown, errno);
  if (!S_ISDIR(info.st_mode)) return make_error(Errc::invalid_input, shown + " is no folder");
  if (info.st_uid != ::geteuid()) {
    return make_error(Errc::permission,
                      shown + " belongs to another user; set MUSTER_HOME to a folder of yours");
  }
  if ((info.st_mode & 0022U) != 0) {
    return make_error(Errc::permission,
                      fmt::format("others can write {}; repair: chmod 700 '{}'", shown, shown));
  }
  return path;
}

}  // namespace muster
