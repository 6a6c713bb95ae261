#include "app/log_name.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"

namespace muster {
namespace {

// Words of files that one machine writes about itself.
constexpr std::array<std::string_view, 22> kMachineWords = {
    "dmesg",    "kern",       "kernel", "syslog", "messages", "journal", "journalctl", "slurmd",
    "env",      "counters",   "df",     "ulimit", "limits",   "lspci",   "ibstat",     "console",
    "ibstatus", "nvidia-smi", "free",   "mcelog", "ethtool",  "sensors"};
// Words of other files, and what stands around the words above.
constexpr std::array<std::string_view, 13> kOtherWords = {"log",  "logs",   "txt",   "out",  "err",
                                                          "node", "host",   "human", "json", "old",
                                                          "full", "nvidia", "smi"};
// Folders that count something else than machines.
constexpr std::array<std::string_view, 20> kRunWords = {
    "run",  "attempt", "job",  "try",  "rank", "day",    "test", "exp",  "log",   "logs",
    "part", "step",    "case", "task", "user", "backup", "v",    "seed", "epoch", "local"};

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "n012", "tr-x-3", "gpu07.cluster": begins with a letter and has a digit.
bool like_a_host(std::string_view word) {
  return word.size() >= 2 && is_letter(word.front()) &&
         std::any_of(word.begin(), word.end(), is_digit);
}

std::string_view base_of(std::string_view path) {
  return path.substr(path.find_last_of("/:") + 1);
}

// Pieces between "_" and "."; "dmesg-n012" and "n012-dmesg" are two.
std::vector<std::string_view> words_of(std::string_view base) {
  std::vector<std::string_view> out;
  for (const std::string_view dotted : split(base, '.')) {
    for (const std::string_view word : split(dotted, '_')) {
      const std::size_t first = word.find('-'), last = word.rfind('-');
      if (first != word.npos && one_of(kMachineWords, to_lower(word.substr(0, first))) &&
          !one_of(kMachineWords, to_lower(word))) {
        out.push_back(word.substr(0, first));
        out.push_back(word.substr(first + 1));
      } else if (last != word.npos && one_of(kMachineWords, to_lower(word.substr(last + 1)))) {
        out.push_back(word.substr(0, last));
        out.push_back(word.substr(last + 1));
      } else if (!word.empty()) {
        out.push_back(word);
      }
    }
  }
  return out;
}

bool is_machine_file(std::string_view path) {
  const auto words = words_of(base_of(path));
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return one_of(kMachineWords, to_lower(word)); });
}

// "run7" counts runs.
bool counts_runs(std::string_view name) {
  std::size_t end = 0;
  while (end < name.size() && is_letter(name[end])) ++end;
  return one_of(kRunWords, to_lower(name.substr(0, end)));
}

}  // namespace

std::string host_of_log_name(std::string_view path) {
  const auto words = words_of(base_of(path));
  const bool machine = is_machine_file(path);
  std::vector<std::string_view> hosts;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string low = to_lower(words[i]);
    const bool said = low == "node" || low == "host";
    if (said && i + 1 < words.size() && !one_of(kMachineWords, to_lower(words[i + 1])) &&
        !one_of(kOtherWords, to_lower(words[i + 1]))) {
      if (like_a_host(words[i + 1])) return std::string(words[i + 1]);
      return std::string(words[i]) + "_" + std::string(words[i + 1]);
    }
    if (one_of(kMachineWords, low) || one_of(kOtherWords, low) || counts_runs(words[i])) continue;
    if (like_a_host(words[i])) hosts.push_back(words[i]);
  }
  return machine && hosts.size() == 1 ? std::string(hosts.front()) : "";
}

std::map<std::string, std::string> hosts_of_folders(const std::vector<std::string>& paths) {
  // Folder above and name of the file -> the folders between them.
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::string>> found;
  for (const std::string& path : paths) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0 || !is_machine_file(path)) continue;
    const std::size_t above = path.rfind('/', slash - 1);
    const std::size_t begin = above == std::string::npos ? 0 : above + 1;
    const std::string name = path.substr(begin, slash - begin);
    if (!like_a_host(name) || counts_runs(name)) continue;
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
