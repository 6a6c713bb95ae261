#include "edge/os/self_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "edge/os/files.h"

namespace muster {

SelfUsage read_self_usage() {
  SelfUsage usage;
  rusage r{};
  if (getrusage(RUSAGE_SELF, &r) == 0) {
    usage.cpu_seconds = static_cast<double>(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
                        static_cast<double>(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
  }
  const auto statm = read_whole(real_files(), "/proc/self/statm", 4096);
  if (!statm) return usage;
  const auto words = split(*statm, ' ');
  const auto pages = words.size() > 1 ? parse_int(words[1]) : std::nullopt;
  if (pages) usage.resident_bytes = *pages * sysconf(_SC_PAGESIZE);
  return usage;
}

}  // namespace muster
