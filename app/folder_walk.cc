#include "app/folder_walk.h"

#include <fmt/core.h>

namespace muster {

void FolderWalk::walk(const std::string& path, const OnFile& on_file) {
  folder(path, 1, on_file);
}

void FolderWalk::folder(const std::string& path, std::size_t depth, const OnFile& on_file) {
  if (depth > limits::kFolderDepth) {
    blind.push_back({path, "folders inside folders: too deep, not read", true});
    return;
  }
  const auto names = files_.list(path);
  if (!names) return fail(path, names.error());
  for (const std::string& name : *names) {
    if (full_) return;
    if (!rules_.hidden && name.starts_with('.')) continue;
    entry(path.ends_with('/') ? path + name : path + "/" + name, depth, on_file);
  }
}

void FolderWalk::entry(const std::string& path, std::size_t depth, const OnFile& on_file) {
  const auto info = files_.stat(path);
  if (!info) return fail(path, info.error());
  const bool folder_here = info->type == FileInfo::Type::folder;
  if (info->link && (folder_here || !rules_.links)) {
    pass_over(path, "a link, not followed");
  } else if (folder_here) {
    folder(path, depth + 1, on_file);
  } else if (info->type == FileInfo::Type::file) {
    if (++taken_ <= rules_.most_files) return on_file(path, *info);
    full_ = true;
    blind.push_back(
        {path, fmt::format("more than {} files: the rest is not read", rules_.most_files), true});
  } else {
    pass_over(path, "a pipe, socket or device, not read");
  }
}

void FolderWalk::pass_over(const std::string& path, std::string_view why) {
  if (++passed_ <= limits::kNotesOfLog) notes.push_back(fmt::format("{}: {}", path, why));
}

void FolderWalk::fail(const std::string& path, const Error& error) {
  if (!failure) failure = error;
  blind.push_back({path, error.context, true});
}

}  // namespace muster
