#include "app/host_names.h"

#include <algorithm>
#include <set>

namespace muster {
namespace {

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, std::max<std::size_t>(1, name.find('.')));
}

// The folder that it lies in; the stem where the path names none.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return stem_of(path);
  return path.substr(path.rfind('/', slash - 1) + 1, slash - path.rfind('/', slash - 1) - 1);
}

std::string folder_and_stem(const std::string& path) {
  if (path.find('/') == std::string::npos) return stem_of(path);
  return folder_of(path) + "/" + stem_of(path);
}

std::string itself(const std::string& path) {
  return path;
}

}  // namespace

std::vector<std::string> host_names(const std::vector<std::string>& paths) {
  const std::set<std::string> different(paths.begin(), paths.end());
  std::vector<std::string> names(paths.size());
  for (const auto& name_of : {stem_of, folder_of, folder_and_stem, itself}) {
    std::transform(paths.begin(), paths.end(), names.begin(), name_of);
    if (std::set(names.begin(), names.end()).size() == different.size()) break;
  }
  return names;
}

}  // namespace muster
