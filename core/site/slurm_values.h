#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace muster {

// "2-00:00:19", "07:58:10", "5:03", "5:03.221", "0:00"; "UNLIMITED", "INVALID" and others nothing.
std::optional<Duration> read_slurm_duration(std::string_view text);
// "2026-05-02T01:10:02"; "Unknown", "N/A", "None" nothing. Local time, read as if it were UTC.
std::optional<WallTime> read_slurm_time(std::string_view text);

}  // namespace muster
