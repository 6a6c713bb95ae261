#include "core/site/file_host.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.h"
#include "base/text.h"

namespace muster {
namespace {

// Words of files that one machine writes about itself.
constexpr std::array<std::string_view, 33> kMachineWords = {
    "dmesg",   "kern",    "kernel",    "syslog",     "messages", "journal", "journalctl",
    "slurmd",  "env",     "counters",  "df",         "ulimit",   "limits",  "lspci",
    "ibstat",  "console", "ibstatus",  "nvidia-smi", "free",     "mcelog",  "ethtool",
    "sensors", "ps",      "systemctl", "ss",         "netstat",  "proc",    "gids",
    "listing", "lsof",    "top",       "perfquery",  "rdma"};
// Words of other files, and what stands around the words above.
constexpr std::array<std::string_view, 13> kOtherWords = {"log",  "logs",   "txt",   "out",  "err",
                                                          "node", "host",   "human", "json", "old",
                                                          "full", "nvidia", "smi"};
// Folders that count something else than machines.
constexpr std::array<std::string_view, 42> kRunWords = {
    "run",   "attempt", "job",   "try",   "rank",   "day",     "test",   "exp",    "log",
    "logs",  "part",    "step",  "case",  "task",   "user",    "backup", "v",      "seed",
    "epoch", "local",   "week",  "month", "year",   "boot",    "dump",   "snap",   "incident",
    "build", "release", "phase", "round", "stage",  "version", "copy",   "ticket", "session",
    "night", "shift",   "trial", "iter",  "sample", "page"};

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
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
std::vector<std::string_view> name_words(std::string_view base) {
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

// "run7" counts runs.
bool counts_runs(std::string_view name) {
  std::size_t end = 0;
  while (end < name.size() && is_letter(name[end])) ++end;
  return one_of(kRunWords, to_lower(name.substr(0, end)));
}

}  // namespace

bool is_machine_file(std::string_view path) {
  const auto words = name_words(base_of(path));
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return one_of(kMachineWords, to_lower(word)); });
}

std::string host_of_file_name(std::string_view path) {
  const auto words = name_words(base_of(path));
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

bool names_host(std::string_view word) {
  return like_a_host(word) && !counts_runs(word);
}

}  // namespace muster
