#pragma once

#include "core/site/site_text.h"

namespace muster {

// Limits of a process, as shells, the kernel and files write them:
//
//   max locked memory  (kbytes, -l) 8192                     ulimit -a of bash; one line is enough
//   -n: file descriptors            1024                     of zsh; dash: nofiles 1024
//   Max open files     1024   1048576   files                /proc/PID/limits
//   MEMLOCK  max locked-in-memory ...  8388608 8388608 bytes prlimit
//   * soft memlock unlimited                                 limits.conf: memlock in KiB
//
// `name` is that of limits.conf (nofile, memlock, nproc, stack, core, fsize, as, data, cpu, rss,
// sigpending, msgqueue, nice, rtprio, locks) where it is one of these, otherwise as printed. Sizes
// become bytes. What ulimit shows is the soft limit.
void read_limits(SiteText& text);

}  // namespace muster
