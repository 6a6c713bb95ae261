#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

// What something beside the flight recorder tells about one rank: its log, the kernel's log of its
// host, NCCL's RAS. A second witness decides between hypotheses that dumps leave open, and names
// the cause where a rank left no dump.

namespace muster {

enum class WitnessKind : std::uint8_t {
  // The rank itself failed: the first cause, where it is the earliest.
  exception,  // traceback of the application
  gpu_oom,    // CUDA out of memory
  host_oom_killed,
  killed,         // SIGKILL, SIGTERM from outside; `code` is the signal
  crashed,        // SIGSEGV, SIGBUS, SIGABRT without a watchdog line before; `code` is the signal
  cuda_error,     // sticky CUDA error
  gpu_lost,       // Xid 79 and its kind; `code` is the Xid
  network_error,  // NCCL lost its peer or its port
  // The rank waited: a victim, and its numbers are evidence.
  collective_timeout,  // the watchdog caught a timeout; seq/op are of the work
  last_enqueued,       // numbers of the group's last work, with or without a timeout here
  dump_signal,         // told by another rank to dump; it did not time out itself
  // The rank is elsewhere.
  left_script,     // destroy_process_group, "not called before program exit": it has left
  watchdog_stuck,  // heartbeat monitor: no progress inside a CUDA or NCCL call
  gil_held,        // the interpreter lock could not be had
  ras_missing,     // RAS: the rank is not there or its process is dead
  ras_behind,      // RAS: the rank's count of `op` is lower than the others'
};

// Numbers that the line does not have are absent. `rank` is global.
struct RankWitness {
  WitnessKind kind = WitnessKind::exception;
  std::int32_t rank = 0;
  std::optional<std::string> group;  // its name or description as the line has it
  std::optional<std::int64_t> seq;   // of the work in question
  std::optional<std::int64_t> enqueued, completed;
  std::optional<std::int64_t> pending;  // works that the watchdog still held: fewer is behind
  std::optional<int> code;
  std::string op;  // "ALLREDUCE"; empty: not told
  std::optional<WallTime> at;
  bool at_has_zone = false;  // false: local time of its host, read as if it were UTC
  std::optional<Duration>
      clock;           // of a line that tells no date, since midnight; then `at` is absent
  std::string source;  // file
  std::optional<std::uint64_t> line;
  std::string text;  // the line, bounded; for evidence
};

}  // namespace muster
