#pragma once

#include "core/health/probe.h"

namespace muster {

// The whole table of probes on this machine, all at a time, each with its own deadline. One that
// hangs costs only itself: a program is killed with its process group, and what the kernel does not
// let go of is left behind (`timeout`). Nothing is changed here, nothing needs root.
health::HostProbe probe_this_host();

// One row, in the thread of the caller, which waits at most a little longer than its deadline
// except for a file whose driver hangs.
health::ProbeAnswer run_probe(const health::Probe& probe);

}  // namespace muster
