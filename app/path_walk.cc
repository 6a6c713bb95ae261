#include "app/path_walk.h"

#include <fmt/core.h>

#include <utility>

namespace muster {

void PathWalk::path(const std::string& path, int mark) {
  if (path == "-") return add(path, mark, {});
  const auto info = files_.stat(path);
  if (!info) {
    if (!failure) failure = info.error();
    blind.push_back({path, info.error().context, true});
    return;
  }
  if (info->type != FileInfo::Type::folder) return add(path, mark, info->modified);
  folders_.walk(path, [&](const std::string& inner, const FileInfo& found) {
    add(inner, mark, found.modified);
  });
  if (!failure) failure = folders_.failure;
}

void PathWalk::finish() {
  blind.insert(blind.end(), folders_.blind.begin(), folders_.blind.end());
  const std::size_t more = folders_.not_noted();
  notes = std::move(folders_.notes);
  if (more != 0) {
    notes.push_back(
        fmt::format("and {} more links, pipes, sockets and devices were not read", more));
  }
}

void PathWalk::add(const std::string& path, int mark, WallTime modified) {
  if (known_.insert(path).second) items.push_back({path, mark, modified});
}

}  // namespace muster
