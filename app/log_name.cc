#include "app/log_name.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/text.h"
#include "core/site/file_host.h"

namespace muster {
namespace {}  // namespace

std::map<std::string, std::string> hosts_of_folders(const std::vector<std::string>& paths) {
  // Folder above and name of the file -> the folders between them.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::string>> found;
  for (const std::string& path : paths) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0 || !is_machine_file(path)) continue;
    const std::size_t above = path.rfind('/', slash - 1);
    const std::size_t begin = above == std::string::npos ? 0 : above + 1;
    const std::string name = path.substr(begin, slash - begin);
    if (!names_host(name)) continue;
    found[{path.substr(0, begin), path.substr(slash + 1)}][name] = path;
  }
  std::map<std::string, std::string> out;
  for (const auto& [place, folders] : found) {
    if (folders.size() < 2) continue;
    for (const auto& [name, path] : folders) out[path] = name;
  }
  return out;
}

std::vector<std::size_t> rotated_order(const std::vector<std::string>& paths) {
  struct Age {
    std::size_t index;
    std::int64_t age;  // the higher, the older
  };
  std::map<std::string, std::vector<Age>> families;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::string_view name = paths[i];
    for (const std::string_view ending : {".gz", ".zst"}) {
      if (name.ends_with(ending)) name.remove_suffix(ending.size());
    }
    std::size_t digits = name.size();
    while (digits > 0 && is_digit(name[digits - 1])) --digits;
    const auto number = parse_int(name.substr(digits));
    const std::size_t count = name.size() - digits;
    std::int64_t age = 0;
    if (number && digits > 1 && name[digits - 1] == '.' && count <= 4) age = 1 + *number;
    if (number && digits > 1 && name[digits - 1] == '-' && count == 8) age = 99999999 - *number;
    if (age != 0) name = name.substr(0, digits - 1);
    families[std::string(name)].push_back({i, age});
  }
  std::vector<std::size_t> out(paths.size());
  for (auto& [name, ages] : families) {
    std::vector<std::size_t> places;
    for (const Age& age : ages) places.push_back(age.index);
    std::stable_sort(ages.begin(), ages.end(),
                     [](const Age& a, const Age& b) { return a.age > b.age; });
    for (std::size_t i = 0; i < ages.size(); ++i) out[places[i]] = ages[i].index;
  }
  return out;
}

}  // namespace muster
