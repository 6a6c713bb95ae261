#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/health/judges.h"
#include "core/health/limits.h"

namespace muster::health {
namespace {

// A row of df as the probe asks for it; "-" is nothing.
struct DfRow {
  std::string_view type, mount, line;
  std::optional<double> size, used, available, inodes, inodes_used, inodes_free;
};

std::optional<double> count_of(std::string_view word) {
  const auto value = parse_uint(word);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

bool is_number_or_none(std::string_view word, bool percent) {
  if (word == "-") return true;
  if (percent && word.ends_with('%')) word.remove_suffix(1);
  return parse_uint(word).has_value();
}

// SOURCE TYPE SIZE USED AVAIL USE% INODES IUSED IFREE IUSE% MOUNT. Blanks may stand in SOURCE and
// MOUNT, so the eight numbers in the middle are what a row is known by.
std::optional<DfRow> df_row(std::string_view line) {
  constexpr std::array<bool, 8> kPercent = {false, false, false, true, false, false, false, true};
  const auto words = words_of(line);
  for (std::size_t at = 2; at + kPercent.size() < words.size(); ++at) {
    bool fits = true;
    for (std::size_t i = 0; i < kPercent.size(); ++i) {
      fits = fits && is_number_or_none(words[at + i], kPercent[i]);
    }
    if (!fits) continue;
    DfRow row;
    row.line = line;
    row.type = words[at - 1];
    row.mount = trim(line.substr(static_cast<std::size_t>(words[at + 8].data() - line.data())));
    row.size = count_of(words[at]);
    row.used = count_of(words[at + 1]);
    row.available = count_of(words[at + 2]);
    row.inodes = count_of(words[at + 4]);
    row.inodes_used = count_of(words[at + 5]);
    row.inodes_free = count_of(words[at + 6]);
    return row;
  }
  return std::nullopt;
}

// Images that are always full, and tables of the kernel or firmware.
bool never_judged(const DfRow& row) {
  constexpr std::string_view kTypes[] = {"squashfs", "iso9660",  "erofs",    "udf",
                                         "cramfs",   "efivarfs", "devtmpfs", "fuse.snapfuse"};
  return std::find(std::begin(kTypes), std::end(kTypes), row.type) != std::end(kTypes) ||
         row.mount.starts_with("/snap/") || row.mount.starts_with("/var/lib/snapd/snap/");
}

// Of what a user can have, as df counts: blocks kept for root are in neither.
std::optional<double> used_percent(std::optional<double> used, std::optional<double> available) {
  if (!used || !available || *used + *available <= 0) return std::nullopt;
  return 100.0 * *used / (*used + *available);
}

void judge_share(const DfRow& row, bool inodes, const Limits& limits, Judged& out) {
  const auto percent = inodes ? used_percent(row.inodes_used, row.inodes_free)
                              : used_percent(row.used, row.available);
  const double fails = limits.required("disk_used_percent");
  const double warns = std::min(limits.required("disk_warn_percent"), fails);
  if (!percent || *percent < warns) return;
  CheckResult result =
      found(*percent >= fails ? CheckOutcome::fail : CheckOutcome::warn,
            inodes ? fmt::format("{}: {:.0f} % of the inodes are in use", row.mount, *percent)
                   : fmt::format("{}: {:.0f} % are in use, {:.1f} GiB are free", row.mount,
                                 *percent, row.available.value_or(0) / (1024.0 * 1024 * 1024)));
  if (inodes) result.cause = Cause::inodes_exhausted;
  if (row.mount == "/dev/shm") result.cause = Cause::shm_full;
  result.value = *percent;
  result.limit = *percent >= fails ? fails : warns;
  result.unit = "%";
  add_evidence(result, "df", row.line);
  out.push_back(std::move(result));
}

}  // namespace

Judged judge_disk_space(const HostProbe& probe, const Limits& limits) {
  const ProbeAnswer& answer = answer_of(probe, "df");
  Judged out;
  std::size_t rows = 0;
  for (const std::string_view line : lines_of(output_of(answer))) {
    const auto row = df_row(line);
    if (!row) continue;
    ++rows;
    if (never_judged(*row)) continue;
    judge_share(*row, false, limits, out);
    judge_share(*row, true, limits, out);
  }
  // A status other than 0 with rows: one mount could not be looked at, the others could.
  if (rows == 0) {
    return cannot_tell(answer.status != 0 ? failure_of(answer) : "df: no row is understood");
  }
  return or_passed(std::move(out), std::nullopt, limits.required("disk_used_percent"), "%");
}

Judged judge_shm(const HostProbe& probe, const Limits& limits) {
  constexpr double kMib = 1024.0 * 1024;
  const double least = limits.required("shm_mib");
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "df")))) {
    const auto row = df_row(line);
    if (!row || row->mount != "/dev/shm" || !row->size) continue;
    const double size = *row->size / kMib;
    if (size >= least) return passed(size, least, "MiB");
    CheckResult out =
        found(CheckOutcome::warn,
              fmt::format("/dev/shm has {:.0f} MiB: data loaders and NCCL fill it", size));
    out.value = size;
    out.limit = least;
    out.unit = "MiB";
    add_evidence(out, "df", line);
    return {std::move(out)};
  }
  return cannot_tell("df: no /dev/shm is listed");
}

namespace {

bool is_pool_state(std::string_view word) {
  constexpr std::string_view kStates[] = {"ONLINE",  "DEGRADED", "FAULTED", "OFFLINE",
                                          "UNAVAIL", "REMOVED",  "AVAIL",   "INUSE"};
  return std::find(std::begin(kStates), std::end(kStates), word) != std::end(kStates);
}

// "0", "12", "1.5K" as ZFS counts errors.
bool is_zero(std::string_view word) {
  return word == "0";
}

struct PoolDevices {
  Judged faults;
  std::size_t devices = 0;
  std::optional<std::string_view> odd;
};

void judge_pool_line(std::string_view line, PoolDevices& out) {
  const auto words = words_of(line);
  if (words.size() < 2 || words[0] == "NAME") return;
  if (!is_pool_state(words[1])) {
    out.odd = out.odd.value_or(trim(line));
    return;
  }
  // What can be pulled and has a name of its own; pools, mirrors and the like only group.
  const bool groups = words[0].starts_with("mirror-") || words[0].starts_with("raidz") ||
                      words[0].starts_with("draid") || words[0].starts_with("spare-") ||
                      words[0].starts_with("replacing-");
  if (!groups && line.starts_with("\t  ")) ++out.devices;
  if (words[1] == "AVAIL" || words[1] == "INUSE") return;
  const bool online = words[1] == "ONLINE";
  const bool counts = words.size() >= 5;
  if (online && (!counts || (is_zero(words[2]) && is_zero(words[3]) && is_zero(words[4])))) return;
  CheckResult fault =
      online ? found(CheckOutcome::warn,
                     fmt::format("ZFS device {}: errors read {}, write {}, checksum {}", words[0],
                                 words[2], words[3], words[4]))
             : found(words[1] == "OFFLINE" ? CheckOutcome::warn : CheckOutcome::fail,
                     fmt::format("ZFS device {} is {}", words[0], words[1]));
  add_evidence(fault, "zpool_status", line);
  out.faults.push_back(std::move(fault));
}

}  // namespace

Judged judge_zpool(const HostProbe& probe, const Limits& limits) {
  const ProbeAnswer& answer = answer_of(probe, "zpool_status");
  PoolDevices pool;
  bool in_table = false, any = false;
  for (const std::string_view line : lines_of(output_of(answer))) {
    if (trim(line) == "config:") {
      in_table = any = true;
    } else if (line.starts_with("errors:") || line.starts_with("  pool:")) {
      in_table = false;
    } else if (in_table && !trim(line).empty()) {
      judge_pool_line(line, pool);
    }
  }
  const auto least = limits.number("zpool_devices");
  if (least && static_cast<double>(pool.devices) < *least) {
    pool.faults.push_back(found(CheckOutcome::warn, fmt::format("{} of {:.0f} devices are in ZFS "
                                                                "pools",
                                                                pool.devices, *least)));
  }
  if (!pool.faults.empty()) return std::move(pool.faults);
  if (pool.odd) {
    return cannot_tell(
        fmt::format("a line of zpool is not understood: {}", whole_characters(*pool.odd, 120)));
  }
  if (!any) {
    return answer.status != 0 ? cannot_tell(failure_of(answer)) : skipped("no ZFS pool");
  }
  return passed(whole(pool.devices), std::nullopt, "devices");
}

Judged judge_nvme(const HostProbe& probe, const Limits&) {
  Judged out;
  std::size_t drives = 0;
  for (const ProbePart& part : answer_of(probe, "nvme").parts) {
    const auto words = path_words(part.name, "/sys/class/nvme/");
    if (words.size() != 2 || words[1] != "state") continue;
    ++drives;
    const std::string_view state = trim(part.bytes);
    if (state == "live") continue;
    out.push_back(found(state == "dead" ? CheckOutcome::fail : CheckOutcome::warn,
                        fmt::format("drive {} is {}", words[0], whole_characters(state, 40))));
    if (state != "dead") out.back().cause = Cause::host_hardware;
    add_evidence(out.back(), part.name, state);
  }
  return or_passed(std::move(out), whole(drives), std::nullopt, "drives");
}

Judged judge_md_arrays(const HostProbe& probe, const Limits&) {
  Judged out;
  std::string_view array;
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "mdstat")))) {
    if (line.starts_with("md")) array = line.substr(0, line.find(' '));
    // "[4/3] [UUU_]"
    const std::size_t open = line.rfind('[');
    if (open == std::string_view::npos || array.empty()) continue;
    const std::string_view members = line.substr(open + 1, line.find(']', open) - open - 1);
    if (members.empty() || members.find_first_not_of("U_") != std::string_view::npos) continue;
    if (members.find('_') == std::string_view::npos) continue;
    out.push_back(
        found(CheckOutcome::warn, fmt::format("array {} lacks a drive: [{}]", array, members)));
    add_evidence(out.back(), "mdstat", line);
  }
  return or_passed(std::move(out));
}

Judged judge_network_mounts(const HostProbe& probe, const Limits&) {
  Judged out;
  std::size_t alive = 0;
  for (const std::string_view line : lines_of(output_of(answer_of(probe, "network_mounts")))) {
    const auto words = words_of(line);
    if (words.size() < 3) continue;
    const std::string_view mount =
        line.substr(static_cast<std::size_t>(words[2].data() - line.data()));
    if (words[0] == "hung" || words[0] == "stale") {
      out.push_back(found(CheckOutcome::fail,
                          words[0] == "hung"
                              ? fmt::format("{} ({}) does not answer", mount, words[1])
                              : fmt::format("{} ({}) has a stale handle", mount, words[1])));
      add_evidence(out.back(), "network_mounts", line);
    } else if (words[0] == "failed") {
      out.push_back(found(CheckOutcome::unknown,
                          fmt::format("{} ({}) could not be looked at", mount, words[1])));
    } else {
      ++alive;
    }
  }
  if (out.empty() && alive == 0) return skipped("no network file system is mounted");
  return or_passed(std::move(out), whole(alive), std::nullopt, "mounts");
}

}  // namespace muster::health
