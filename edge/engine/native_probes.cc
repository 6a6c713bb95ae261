#include "edge/engine/native_probes.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include "base/ascii.h"
#include "base/text.h"
#include "edge/engine/probe_child.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

using health::ProbeAnswer;
using health::ProbeEnd;

// The beginning of a file; without waiting where it is a pipe or a device. errno where it fails.
std::optional<std::string> read_some(const std::string& path, std::size_t most) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  std::string out;
  std::array<char, 16384> buffer;
  ssize_t n = 0;
  while (out.size() <= most && (n = ::read(file, buffer.data(), buffer.size())) > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(n));
  }
  const int error = n < 0 ? errno : 0;
  ::close(file);
  if (n < 0 && out.empty()) {
    errno = error;
    return std::nullopt;
  }
  return out;
}

std::vector<std::string> names_of(std::string_view patterns) {
  std::vector<std::string> out;
  for (const std::string_view pattern : split(patterns, ' ')) {
    if (pattern.empty()) continue;
    glob_t found = {};
    if (::glob(std::string(pattern).c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
  }
  return out;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return out;
  while (const dirent* const entry = ::readdir(open)) {
    if (entry->d_name[0] != '.') out.emplace_back(entry->d_name);
  }
  ::closedir(open);
  return out;
}

bool is_number(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_digit);
}

ProbeAnswer told(std::string text) {
  ProbeAnswer out;
  out.end = ProbeEnd::done;
  out.status = 0;
  out.parts.push_back({"", std::move(text)});
  return out;
}

// The numbers N of /dev/nvidiaN that a process holds; nothing where it may not be looked into.
std::optional<std::set<std::uint64_t>> gpus_held(const std::string& process) {
  constexpr std::string_view kDevice = "/dev/nvidia";
  const std::string folder = "/proc/" + process + "/fd";
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr)
    return errno == EACCES ? std::nullopt : std::optional<std::set<std::uint64_t>>{std::in_place};
  std::set<std::uint64_t> out;
  while (const dirent* const entry = ::readdir(open)) {
    std::array<char, 64> target;
    const ssize_t n =
        ::readlink((folder + "/" + entry->d_name).c_str(), target.data(), target.size());
    if (n <= 0) continue;
    const std::string_view name(target.data(), static_cast<std::size_t>(n));
    if (!name.starts_with(kDevice)) continue;
    const auto gpu = parse_uint(name.substr(kDevice.size()));
    if (gpu) out.insert(*gpu);
  }
  ::closedir(open);
  return out;
}

std::string command_of(const std::string& process) {
  std::string name = read_some("/proc/" + process + "/comm", 64).value_or("?");
  name = std::string(trim(name));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name.empty() ? "?" : name;
}

ProbeAnswer gpu_holders() {
  std::string out;
  std::size_t unseen = 0;
  for (const std::string& process : names_in("/proc")) {
    if (!is_number(process)) continue;
    const auto gpus = gpus_held(process);
    if (!gpus) ++unseen;
    if (!gpus || gpus->empty()) continue;
    struct stat info = {};
    if (::stat(("/proc/" + process).c_str(), &info) != 0) continue;
    std::string list;
    for (const std::uint64_t gpu : *gpus) list += fmt::format("{}{}", list.empty() ? "" : ",", gpu);
    out += fmt::format("{} {} {} {}\n", process, info.st_uid, command_of(process), list);
  }
  return told(out + fmt::format("unseen {}\n", unseen));
}

// Offset of the ACS control register in a bridge's configuration; the list of extended capabilities
// begins at 256 (PCIe base specification).
std::optional<std::uint32_t> acs_control(std::string_view config) {
  const auto byte = [config](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(config[at]));
  };
  constexpr std::uint32_t kAcs = 0x000d;
  std::size_t at = 256;
  for (int steps = 0; steps < 64 && at >= 256 && at + 8 <= config.size(); ++steps) {
    const std::uint32_t id = byte(at) | byte(at + 1) << 8;
    if (id == kAcs) return byte(at + 6) | byte(at + 7) << 8;
    at = (byte(at + 2) >> 4 | byte(at + 3) << 4) & 0xffc;
  }
  return std::nullopt;
}

ProbeAnswer pci_acs() {
  // Without root the kernel gives the first 64 bytes only.
  constexpr std::size_t kAll = 4096, kPlain = 256;
  std::string out;
  bool seen = false, hidden = false;
  for (const std::string& folder : names_of("/sys/bus/pci/devices/*")) {
    const std::string kind = read_some(folder + "/class", 32).value_or("");
    if (!kind.starts_with("0x0604")) continue;
    const std::string config = read_some(folder + "/config", kAll).value_or("");
    hidden = hidden || config.size() < kPlain;
    seen = seen || config.size() >= kPlain;
    const auto control = acs_control(config);
    if (control) out += fmt::format("{} {:04x}\n", folder.substr(folder.rfind('/') + 1), *control);
  }
  ProbeAnswer answer = told(std::move(out));
  if (hidden && !seen) {
    answer.end = ProbeEnd::denied;
    answer.complaint = "only root may read the configuration of PCIe bridges";
  }
  return answer;
}

ProbeAnswer ib_counters_later(std::size_t max_bytes) {
  const auto& table = health::probe_table();
  const auto first = std::find_if(table.begin(), table.end(), [](const health::Probe& probe) {
    return probe.id == "ib_counters";
  });
  if (names_of("/sys/class/infiniband/*").empty() || first == table.end()) {
    ProbeAnswer none;
    none.end = ProbeEnd::missing;
    return none;
  }
  system_clock().sleep_until(system_clock().mono() + std::chrono::milliseconds(300), {});
  return read_probe_files(first->what, max_bytes);
}

bool over_network(std::string_view type) {
  constexpr std::string_view kTypes[] = {"nfs",    "nfs4",           "lustre", "ceph",
                                         "cifs",   "smb3",           "gpfs",   "beegfs",
                                         "wekafs", "fuse.glusterfs", "9p"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

// "\040" of /proc/self/mounts is a blank.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\\040")) {
      out += ' ';
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

ProbeAnswer network_mounts(Duration deadline) {
  constexpr std::size_t kLooked = 64;
  const auto mounts = read_some("/proc/self/mounts", 512 * 1024);
  if (!mounts) {
    ProbeAnswer none;
    none.end = ProbeEnd::failed;
    return none;
  }
  const MonoTime until = system_clock().mono() + deadline;
  std::string out;
  std::size_t looked = 0;
  for (const std::string_view line : split(*mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 3 || !over_network(words[2]) || ++looked > kLooked) continue;
    const std::string mount = unescaped(words[1]);
    const Duration left = std::max<Duration>(until - system_clock().mono(), Duration(0));
    const ProbeAnswer answer = run_probe_child(
        {"stat", "-f", "--", mount}, std::min<Duration>(left, std::chrono::seconds(2)), 4096);
    const char* const state = answer.end == ProbeEnd::timeout                        ? "hung"
                              : answer.end != ProbeEnd::done                         ? "failed"
                              : answer.status == 0                                   ? "ok"
                              : answer.complaint.find("Stale") != std::string::npos  ? "stale"
                              : answer.complaint.find("denied") != std::string::npos ? "denied"
                                                                                     : "failed";
    out += fmt::format("{} {} {}\n", state, words[2], mount);
  }
  return told(std::move(out));
}

ProbeAnswer time_sync() {
  timex state = {};
  const int result = ::adjtimex(&state);
  ProbeAnswer answer = told("");
  if (result < 0) {
    answer.end = errno == EPERM ? ProbeEnd::denied : ProbeEnd::failed;
    answer.complaint = std::strerror(errno);
    return answer;
  }
  const bool kept = result != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  return told(fmt::format("synchronised {}\n", kept ? "yes" : "no"));
}

// State, and the start in ticks after boot, of /proc/PID/stat: the third and the 22nd word; the
// name, in brackets, may hold anything.
ProbeAnswer stuck_processes() {
  const auto uptime = read_some("/proc/uptime", 64);
  const auto up =
      uptime ? parse_double(std::string_view(*uptime).substr(0, uptime->find(' '))) : std::nullopt;
  const long ticks = ::sysconf(_SC_CLK_TCK);
  std::string out;
  for (const std::string& process : names_in("/proc")) {
    if (!is_number(process) || !up || ticks <= 0) continue;
    const auto stat = read_some("/proc/" + process + "/stat", 4096);
    const std::size_t close = stat ? stat->rfind(')') : std::string::npos;
    if (close == std::string::npos || close + 2 >= stat->size()) continue;
    const auto words = split(std::string_view(*stat).substr(close + 2), ' ');
    if (words.size() < 20 || words[0] != "D") continue;
    const auto start = parse_uint(words[19]);
    if (!start) continue;
    const double age = *up - static_cast<double>(*start) / static_cast<double>(ticks);
    out += fmt::format("{} {:.0f} {} {}\n", process, std::max(age, 0.0), command_of(process),
                       read_some("/proc/" + process + "/wchan", 64).value_or("?"));
  }
  return told(std::move(out));
}

}  // namespace

ProbeAnswer read_probe_files(std::string_view patterns, std::size_t max_bytes) {
  ProbeAnswer answer;
  answer.end = ProbeEnd::missing;
  std::size_t total = 0;
  for (const std::string& name : names_of(patterns)) {
    auto bytes = read_some(name, max_bytes - total);
    if (!bytes) {
      // A pattern that names no file is given back as it is by nobody: it was there a moment ago.
      if (answer.end != ProbeEnd::done && errno != ENOENT) {
        answer.end = errno == EACCES || errno == EPERM ? ProbeEnd::denied : ProbeEnd::failed;
        answer.complaint = fmt::format("{}: {}", name, std::strerror(errno));
      }
      continue;
    }
    answer.end = ProbeEnd::done;
    if (total + bytes->size() > max_bytes) {
      answer.end = ProbeEnd::truncated;
      return answer;
    }
    total += bytes->size();
    answer.parts.push_back({name, std::move(*bytes)});
  }
  if (answer.end == ProbeEnd::done) {
    answer.status = 0;
    answer.complaint.clear();
  }
  return answer;
}

ProbeAnswer run_native_probe(const health::Probe& probe) {
  if (probe.what == "gpu_holders") return gpu_holders();
  if (probe.what == "pci_acs") return pci_acs();
  if (probe.what == "ib_counters_later") return ib_counters_later(probe.max_bytes);
  if (probe.what == "network_mounts") return network_mounts(probe.deadline);
  if (probe.what == "time_sync") return time_sync();
  if (probe.what == "stuck_processes") return stuck_processes();
  ProbeAnswer none;
  none.end = ProbeEnd::failed;
  none.complaint = "no such function";
  return none;
}

}  // namespace muster
