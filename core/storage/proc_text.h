#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What files of /proc and /sys say about the place of a file. The bytes are hostile all the same: a
// container may put its own there, and names of mounts come from users.

namespace muster::storage {

struct Mount {
  std::string device;   // "259:3", the name of its folder in /sys/class/bdi
  std::string point;    // "/data"
  std::string type;     // "ext4"
  std::string source;   // "/dev/nvme0n1p3", "server:/export"
  std::string options;  // of the mount, then of the file system: "rw,noatime,data=ordered"
};

// The mount of /proc/self/mountinfo that an absolute path without links and dots lies on: the
// longest mount point that begins it, of several the last, which covers the others.
std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view path);

// Bytes of the line "MemAvailable:   123 kB" of /proc/meminfo.
std::optional<std::uint64_t> meminfo_bytes(std::string_view meminfo, std::string_view name);

// memory.max of a control group: nothing where it says "max" or is none.
std::optional<std::uint64_t> cgroup_limit(std::string_view text);
// The path of this process' group of version 2 in /proc/self/cgroup: "/user.slice/x".
std::optional<std::string> cgroup_path(std::string_view text);

// What a file system does to a measurement. Names as /proc/self/mountinfo has them.
struct FileSystemHabit {
  bool in_memory = false;   // there is no device: only the row `warm` means anything
  bool own_cache = false;   // it caches where the page cache's tools do not reach
  bool network = false;     // a server has a cache of its own, which stays warm
  std::string_view remark;  // for people; empty where there is nothing to say
};
FileSystemHabit habit_of(std::string_view type);

}  // namespace muster::storage
