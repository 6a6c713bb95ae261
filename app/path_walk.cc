#include "app/path_walk.h"

#include <fmt/core.h>

#include <utility>

namespace muster {

void PathWalk::path(const std::string& path, int mark) {
  if (path == "-") return add({path, mark, {}});
  const auto info = files_.stat(path);
  if (!info) {
    if (!failure) failure = info.error();
    blind.push_back({path, info.error().context, true});
    return;
  }
  if (info->type != FileInfo::Type::folder) return add({path, mark, info->modified});
  folders_.walk(path, [&](const std::string& inner, const FileInfo& found) {
    add({inner, mark, found.modified, path.ends_with('/') ? path.size() : path.size() + 1});
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

void PathWalk::add(Item item) {
  if (known_.insert(item.path).second) items.push_back(std::move(item));
}

Result<std::unique_ptr<ByteStream>> PathWalk::Item::open(Files& files) const {
  if (below == 0) return files.open(path);
  const std::size_t folder = below > 1 ? below - 1 : below;  // "/" keeps its only byte
  return files.open_below(path.substr(0, folder), path.substr(below));
}

}  // namespace muster
