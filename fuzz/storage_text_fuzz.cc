// Any bytes as mountinfo, meminfo, a control group's files and an answer of fio: never a crash, and
// what is taken means something.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/storage/fio_job.h"
#include "core/storage/proc_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::storage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view path : {"/", "/data/local disk/x", ""}) {
    const auto mount = find_mount(text, path);
    if (!mount) continue;
    MUSTER_CHECK(path.starts_with(mount->point), "the path lies on its mount");
    MUSTER_CHECK(mount->point.starts_with('/'), "a mount point is absolute");
  }
  const auto available = meminfo_bytes(text, "MemAvailable");
  MUSTER_CHECK(!available || *available % 1024 == 0, "memory is told in KiB");
  static_cast<void>(cgroup_limit(text));
  const auto group = cgroup_path(text);
  MUSTER_CHECK(!group || (group->starts_with('/') && group->find("..") == std::string::npos),
               "a group lies below the root of the groups");
  const auto answer = parse_fio_answer(text);
  MUSTER_CHECK(!answer || answer->bytes_per_second > 0, "a rate of fio is above 0");
  return 0;
}
