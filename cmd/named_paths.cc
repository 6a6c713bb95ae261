#include "cmd/named_paths.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

namespace muster {

void complain_of_missing(std::string_view option, const std::vector<std::string>& paths,
                         Files& files, Console& console) {
  for (const std::string& path : paths) {
    if (path == "-") continue;
    const auto info = files.stat(path);
    if (info) continue;
    console.complain(
        fmt::format("{}: {}; the answer goes without it", option, info.error().context));
  }
}

void tell_of_terminal(const std::vector<std::string>& paths, Console& console) {
  const bool asked = std::find(paths.begin(), paths.end(), "-") != paths.end();
  if (!asked || isatty(STDIN_FILENO) != 1) return;
  console.complain("standard input is this terminal: type or paste, Ctrl-D ends it");
}

}  // namespace muster
