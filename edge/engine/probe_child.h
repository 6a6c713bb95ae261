#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "core/health/probe.h"

namespace muster {

// Runs a program of PATH with an empty standard input in a process group of its own and gives its
// output, at most `max_bytes`; with LC_ALL=C, so that words and numbers are those that are read.
// At the deadline the group is killed; what it had written stands.
health::ProbeAnswer run_probe_child(const std::vector<std::string>& words, Duration deadline,
                                    std::size_t max_bytes);

}  // namespace muster
