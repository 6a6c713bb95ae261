#include "cmd/named_paths.h"

#include <fmt/core.h>

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

}  // namespace muster
