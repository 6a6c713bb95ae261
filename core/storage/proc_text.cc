#include "core/storage/proc_text.h"

#include <array>
#include <vector>

#include "base/limits.h"
#include "base/text.h"

namespace muster::storage {
namespace {

// mountinfo writes blanks, tabs, line ends and backslashes as \040 and the like.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '7' ? text[at] - '0' : -1;
    };
    if (text[i] == '\\' && digit(i + 1) >= 0 && digit(i + 1) <= 3 && digit(i + 2) >= 0 &&
        digit(i + 3) >= 0) {
      out += static_cast<char>(digit(i + 1) * 64 + digit(i + 2) * 8 + digit(i + 3));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool lies_below(std::string_view path, std::string_view point) {
  if (point == "/") return path.starts_with('/');
  return !point.empty() && path.starts_with(point) &&
         (path.size() == point.size() || path[point.size()] == '/');
}

struct Habit {
  std::string_view type;
  FileSystemHabit habit;
};

constexpr std::string_view kServer =
    "the server's own cache may be warm and cannot be dropped here";
constexpr std::string_view kHost = "the host's own cache may be warm and cannot be dropped here";
constexpr std::string_view kOwn = "it has a cache of its own beside the page cache";

constexpr std::array kHabits = {
    Habit{"tmpfs", {true, false, false, "files lie in memory"}},
    Habit{"ramfs", {true, false, false, "files lie in memory"}},
    Habit{"devtmpfs", {true, false, false, "files lie in memory"}},
    Habit{"hugetlbfs", {true, false, false, "files lie in memory"}},
    Habit{"zfs", {false, true, false, kOwn}},
    Habit{"bcachefs", {false, true, false, kOwn}},
    Habit{"nfs", {false, false, true, kServer}},
    Habit{"nfs4", {false, false, true, kServer}},
    Habit{"cifs", {false, false, true, kServer}},
    Habit{"smb3", {false, false, true, kServer}},
    Habit{"ceph", {false, false, true, kServer}},
    Habit{"lustre", {false, false, true, kServer}},
    Habit{"gpfs", {false, true, true, "its page pool is a cache of its own beside the page cache"}},
    Habit{"beegfs", {false, false, true, kServer}},
    Habit{"wekafs", {false, false, true, kServer}},
    Habit{"9p", {false, false, true, kHost}},
    Habit{"virtiofs", {false, false, true, kHost}},
};

}  // namespace

std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view path) {
  std::optional<Mount> best;
  for (const std::string_view line : split(mountinfo, '\n')) {
    if (line.size() > limits::kLineBytes) continue;
    const std::vector<std::string_view> cells = split(line, ' ');
    // ID PARENT DEVICE ROOT POINT OPTIONS [optional...] - TYPE SOURCE SUPER-OPTIONS
    std::size_t dash = 6;
    while (dash < cells.size() && cells[dash] != "-") ++dash;
    if (dash + 2 >= cells.size()) continue;
    std::string point = unescaped(cells[4]);
    if (!lies_below(path, point)) continue;
    if (best && point.size() < best->point.size()) continue;
    Mount mount;
    mount.device = cells[2];
    mount.point = std::move(point);
    mount.type = cells[dash + 1];
    mount.source = unescaped(cells[dash + 2]);
    mount.options = cells[5];
    if (dash + 3 < cells.size() && !cells[dash + 3].empty()) {
      mount.options += "," + std::string(cells[dash + 3]);
    }
    best = std::move(mount);
  }
  return best;
}

std::optional<std::uint64_t> meminfo_bytes(std::string_view meminfo, std::string_view name) {
  for (const std::string_view line : split(meminfo, '\n')) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    std::string_view rest = trim(line.substr(name.size() + 1));
    if (!rest.ends_with(" kB")) return std::nullopt;
    const auto kb = parse_uint(trim(rest.substr(0, rest.size() - 3)));
    if (!kb || *kb > UINT64_MAX / 1024) return std::nullopt;
    return *kb * 1024;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> cgroup_limit(std::string_view text) {
  return parse_uint(trim(text));
}

std::optional<std::string> cgroup_path(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("0::/") && line.find("..") == std::string_view::npos) {
      return std::string(line.substr(3));
    }
  }
  return std::nullopt;
}

FileSystemHabit habit_of(std::string_view type) {
  for (const Habit& row : kHabits) {
    if (row.type == type) return row.habit;
  }
  if (type == "fuse" || type.starts_with("fuse.") || type == "fuseblk") {
    return {false, true, false, "a program answers: what it caches is not seen here"};
  }
  return {};
}

}  // namespace muster::storage
