#pragma once

#include <cstdint>

namespace muster {

// What this process costs, for its own metrics. A value that cannot be read is below 0.
struct SelfUsage {
  double cpu_seconds = -1;           // user and system, all threads, since the start
  std::int64_t resident_bytes = -1;  // /proc/self/statm
};
SelfUsage read_self_usage();

}  // namespace muster
