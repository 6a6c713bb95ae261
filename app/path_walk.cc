#include "app/path_walk.h"

#include <fmt/format.h>

#include <utility>

#include "base/limits.h"

namespace muster {

void PathWalk::path(const std::string& path, int mark) {
  if (path == "-") return add(path, mark, {});
  const auto info = files_.stat(path);
  if (!info) return fail(path, info.error());
  if (info->type == FileInfo::Type::folder) return folder(path, mark, 1);
  add(path, mark, info->modified);
}

void PathWalk::fail(const std::string& path, const Error& error) {
  if (!failure) failure = error;
  blind.push_back({path, error.context, true});
}

void PathWalk::add(const std::string& path, int mark, WallTime modified) {
  if (items.size() >= limits::kFolderFiles) {
    if (!std::exchange(full_, true)) {
      blind.push_back(
          {path, fmt::format("more than {} files: the rest is not read", limits::kFolderFiles),
           true});
    }
    return;
  }
  if (known_.insert(path).second) items.push_back({path, mark, modified});
}

void PathWalk::folder(const std::string& path, int mark, std::size_t depth) {
  if (depth > limits::kFolderDepth) {
    blind.push_back({path, "folders inside folders: too deep, not read", true});
    return;
  }
  const auto names = files_.list(path);
  if (!names) return fail(path, names.error());
  for (const std::string& name : *names) {
    if (full_) return;
    const std::string inner = path.ends_with('/') ? path + name : path + "/" + name;
    const auto info = files_.stat(inner);
    if (!info) {
      fail(inner, info.error());
    } else if (info->link) {
      if (++links_ <= limits::kNotesOfLog) notes.push_back(inner + ": a link, not followed");
    } else if (info->type == FileInfo::Type::folder) {
      folder(inner, mark, depth + 1);
    } else if (info->type == FileInfo::Type::file) {
      add(inner, mark, info->modified);
    }
  }
}

}  // namespace muster
