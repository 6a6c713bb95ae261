#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/limits.h"
#include "base/text.h"
#include "core/storage/proc_text.h"
#include "edge/os/files.h"
#include "edge/storage/disk.h"
#include "edge/storage/file_target.h"
#include "edge/storage/own_file.h"
#include "edge/storage/run_program.h"

namespace muster::storage {
namespace {

// Of a file of the kernel; empty where it is not there.
std::string system_text(const std::string& path) {
  return read_whole(real_files(), path, limits::kKernelFileBytes).value_or("");
}

std::optional<std::uint64_t> memory_for_cache(const std::string& meminfo) {
  auto available = meminfo_bytes(meminfo, "MemAvailable");
  // A container's limit holds its page cache as well.
  std::string group = cgroup_path(system_text("/proc/self/cgroup")).value_or("");
  for (;;) {
    const auto limit = cgroup_limit(system_text("/sys/fs/cgroup" + group + "/memory.max"));
    if (limit) available = std::min(available.value_or(*limit), *limit);
    if (group.empty()) return available;
    group.resize(group.rfind('/'));
  }
}

std::string canonical(const std::string& path) {
  char* const found = ::realpath(path.c_str(), nullptr);
  if (found == nullptr) return path;
  std::string out(found);
  std::free(found);
  return out;
}

class RealDisk final : public Disk {
 public:
  Place look(const std::string& path) override {
    Place place;
    place.path = path;
    const auto mount = find_mount(system_text("/proc/self/mountinfo"), canonical(path));
    if (mount) {
      place.file_system = mount->type;
      place.options = mount->options;
      place.mount_point = mount->point;
      place.source = mount->source;
      place.remark = habit_of(mount->type).remark;
      const std::string bdi = "/sys/class/bdi/" + mount->device + "/read_ahead_kb";
      place.read_ahead_kb = parse_uint(trim(system_text(bdi)));
    }
    utsname names{};
    if (::uname(&names) == 0) place.kernel = names.release;
    const std::string meminfo = system_text("/proc/meminfo");
    place.memory_bytes = meminfo_bytes(meminfo, "MemTotal");
    place.available_bytes = memory_for_cache(meminfo);
    struct statvfs st{};
    if (::statvfs(path.c_str(), &st) == 0) place.free_bytes = st.f_bavail * st.f_frsize;
    return place;
  }

  Result<bool> is_folder(const std::string& path) override {
    const auto info = real_files().stat(path);
    if (!info) return info.error();
    return info->type == FileInfo::Type::folder;
  }

  Result<std::shared_ptr<ReadTarget>> make(const std::string& folder, std::uint64_t bytes,
                                           std::stop_token stop,
                                           const Progress& progress) override {
    return make_own_file(folder, bytes, stop, progress);
  }

  Result<std::shared_ptr<ReadTarget>> open(const std::string& file) override {
    // A pipe or a device is not waited for.
    Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return errno_error("opening " + file, errno);
    struct stat st{};
    if (::fstat(fd.get(), &st) != 0) return errno_error("looking at " + file, errno);
    if (!S_ISREG(st.st_mode)) {
      return make_error(Errc::invalid_input, file + " is neither a folder nor a regular file");
    }
    const auto bytes = static_cast<std::uint64_t>(st.st_size);
    const off_t hole = ::lseek(fd.get(), 0, SEEK_HOLE);
    if (hole >= 0 && hole < st.st_size) {
      return make_error(
          Errc::invalid_input,
          fmt::format("{} has holes (at byte {}): they are read without a device", file, hole));
    }
    const auto on_device = static_cast<std::uint64_t>(st.st_blocks) * 512;
    return std::make_shared<FileTarget>(std::move(fd), file, bytes, on_device < bytes / 10 * 9);
  }

  Result<std::string> fio(const std::vector<std::string>& arguments, Duration patience,
                          std::stop_token stop) override {
    return run_program("fio", arguments, patience, stop);
  }
};

}  // namespace

Disk& real_disk() {
  static RealDisk disk;
  return disk;
}

}  // namespace muster::storage
