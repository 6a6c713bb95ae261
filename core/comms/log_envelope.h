#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster {

// What stands around a message in a rank's log, in whatever order the launcher, the container and
// the libraries put it:
//
//   3: [default3]:[rank11]:[E801 11:28:40.118203377 ProcessGroupNCCL.cpp:629] [PG ID 0 PG GUID
//   0(default_pg) Rank 11] message
//
// Four different numbers are called a rank there, and only the first is one for the whole job:
// `rank`. The others are kept apart, and the reader may use them only with evidence.
struct LogEnvelope {
  std::optional<std::int32_t> rank;      // [rank11]
  std::optional<std::int32_t> task;      // "3: " of srun -l: a rank only where each rank is a task
  std::optional<std::int32_t> local;     // [default3]: of torchrun: counts from 0 on every host
  std::optional<std::int32_t> in_group;  // "Rank 11]" of the group tag
  std::optional<std::string> group;      // "0", "default_pg": GUID, else description
  bool default_group = false;            // the group of all ranks: `in_group` is global

  std::string host;                 // syslog, Ray, NCCL
  std::optional<std::int64_t> pid;  // Ray, NCCL
  std::optional<WallTime> at;       // without a zone: read as UTC
  bool at_has_zone = false;
  std::optional<Duration> clock;  // of a stamp without a date, since midnight
  bool native = false;            // written by C++ (glog, NCCL), so no part of a traceback
  bool nccl_warn = false;         // "host:pid:tid [dev] file:line NCCL WARN"
  std::string_view message;       // the rest, with its indentation
};

// Of the whole line; `message` points into it. `written` (when the file was last written) gives
// stamps without a year theirs. Never fails: what is no prefix is message.
LogEnvelope read_log_envelope(std::string_view line, WallTime written);

// The message inside a line of Docker's JSON log ({"log":"...","stream":...}), unescaped; nothing
// for any other line.
std::optional<std::string> read_docker_line(std::string_view line);

}  // namespace muster
