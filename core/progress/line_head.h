#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/timestamp.h"

// What stands in front of a trainer's own words: the tags of launchers (torchrun "[default0]:" and
// "[rank3]:", srun "3: "), the stamps of Kubernetes, and the line's own time stamp with log level
// and logger name.

namespace muster::progress {

struct LineHead {
  std::string_view body;           // behind tags and stamp; leading blanks stay (tracebacks)
  std::optional<ParsedTime> time;  // the innermost stamp: the trainer's own before the collector's
  std::optional<int> rank;
};

// Reads forms such as "[2026-03-02 08:00:11,102] ", "[09:10:01] ", "2026-08-01T10:00:00Z ",
// "[titan] 2026-08-01 10:00:00,000 - root - INFO - ", "INFO 24-11-04 09:13:20.118 - ",
// "W0213 03:21:01.402000 40122 api.py:719] ". A clock inside the words of a line is no stamp.
// A stamp without a date comes back with has_date == false.
LineHead parse_line_head(std::string_view line);

// Without ANSI escape sequences (CSI, OSC and two-byte ones). A view of `line` when it has none,
// otherwise of `scratch`, which is overwritten.
std::string_view strip_ansi(std::string_view line, std::string& scratch);

}  // namespace muster::progress
