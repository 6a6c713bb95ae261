#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

// One flight-recorder dump of PyTorch as values: what one rank wrote about the collectives that it
// issued. Formats 1.x (list of groups by number), 2.0 to 2.10 and later 2.x; NCCL, Gloo and other
// back ends. Reader: dump_reader.h. Judge: verdict.h.

namespace muster {

enum class FlightState : std::uint8_t { scheduled, started, completed, other };

// A row of the ring buffer. Numbers that the dump does not have are absent, never zero. Kept small:
// a thousand ranks hold two million of them (64 bytes each).
struct FlightEntry {
  static constexpr std::int64_t kAbsent = INT64_MIN;

  std::int64_t record_id = kAbsent;          // counts all records of the process, from 0
  std::int64_t seq = kAbsent;                // number of the collective in its group (1.x: seq_id)
  std::int64_t p2p_seq = kAbsent;            // number of the message or batch in its group
  std::int64_t created_ns = kAbsent;         // issued, this host's wall clock
  std::int64_t completed_seen_ns = kAbsent;  // when the watchdog noticed the end
  float duration_ms = -1;                    // negative: absent (timing off or not completed)
  std::int32_t timeout_ms = -1;              // negative: absent
  std::uint32_t group = 0;                   // place in FlightDump::groups
  std::uint32_t signature = 0;               // place in FlightDump::signatures
  std::uint32_t stack = 0;                   // place in FlightDump::stacks; 0: no frames
  FlightState state = FlightState::other;
  bool retired = false;  // the watchdog no longer tracks it
  bool is_p2p = false;

  bool operator==(const FlightEntry&) const = default;
};

// What was called: name, shapes, types. The same few recur all run long, so entries share them.
struct FlightSignature {
  std::string name;                                    // as recorded: "nccl:all_reduce"
  std::vector<std::vector<std::int64_t>> input_sizes;  // elements of each tensor
  std::vector<std::vector<std::int64_t>> output_sizes;
  std::vector<std::string> input_dtypes, output_dtypes;  // "BFloat16"; empty: not in the dump

  bool operator==(const FlightSignature&) const = default;
};

struct FlightFrame {
  std::string function, file;
  std::int64_t line = 0;

  bool operator==(const FlightFrame&) const = default;
};

// A call stack, innermost frame first; places in FlightDump::frames.
using FlightStack = std::vector<std::uint32_t>;

// A process group as this rank knows it. The same name may stand for different members on different
// ranks (split_group): a group is its name, description and members together.
struct FlightGroup {
  std::string name;                                // "0", "tp0"; 1.x: the number
  std::string description;                         // "default_pg"; empty: not in the dump
  std::optional<std::vector<std::int32_t>> ranks;  // sorted global ranks; nothing: not told
  std::int64_t pg_id = FlightEntry::kAbsent;       // local number, joins pg_status
  // pg_status as written (may be garbage: judged by the reader of the value, not here).
  std::optional<std::int64_t> last_enqueued, last_completed;

  // Gloo's recorder writes one group without a name, whose numbers are those of another group.
  bool tells_members() const { return ranks && !ranks->empty() && !name.empty(); }
  bool operator==(const FlightGroup&) const = default;
};

// All places that entries name are there: who makes a dump holds to it.
struct FlightDump {
  std::string source;                // file as the user gave it, "archive.tar:member"
  std::optional<std::int32_t> rank;  // from the file name; checked against the groups
  std::string version;               // "2.10"; empty: the bare list of torch 2.2
  std::string library_version;       // nccl_version or comm_lib_version; empty: not told
  std::vector<FlightEntry> entries;  // in the order of the file, which is that of issue
  std::vector<FlightSignature> signatures;
  std::vector<FlightGroup> groups;
  std::vector<FlightFrame> frames;
  std::vector<FlightStack> stacks;  // [0] is the empty one
  // When the file was last written, by the clock of its host or of a copy: never before the dump.
  std::optional<WallTime> written_at;
  std::uint64_t entries_let_go = 0;     // older ones, of a ring longer than is kept
  std::uint64_t bytes = 0;              // of the file that were read
  std::optional<std::uint64_t> cut_at;  // the file ends in the middle, at this byte
  std::vector<std::string> notes;       // what was passed over, for people
};

}  // namespace muster
