#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::health {

// How a probe gets its bytes on a host. None of them changes anything there, none needs root: what
// only root may read ends as `denied`.
enum class ProbeKind : std::uint8_t {
  file,     // contents of the files that the patterns of `what` name, blanks between them
  command,  // standard output of the words of `what`, blanks between them, no shell; standard error
            // apart
  native    // `what` names a function of ours (open files of processes, clocks, sockets)
};

// A row of the table of probes. A probe knows nothing of good and bad: that is a check's business,
// and several checks may read one probe.
struct Probe {
  std::string_view id;  // "nvidia_smi_query"
  ProbeKind kind = ProbeKind::file;
  std::string_view what;  // "/sys/class/infiniband/*/ports/*/state"
  Duration deadline;      // of this probe alone; then it is killed with its process group
  std::size_t max_bytes = 0;
};

std::span<const Probe> probe_table();

// How one probe ended on one host.
enum class ProbeEnd : std::uint8_t {
  done,       // `status` is the exit status of a command, 0 for files
  missing,    // no such file, no such program
  denied,     // permission
  timeout,    // killed at its deadline; what it had written stands
  truncated,  // more than max_bytes
  failed,     // could not be run for another reason
  not_run     // the host's own deadline came first, or the connection broke
};

// One file of a pattern, or the one output of a command.
struct ProbePart {
  std::string name;   // "/sys/class/infiniband/mlx5_0/ports/1/state"; empty for a command
  std::string bytes;  // hostile
};

struct ProbeAnswer {
  std::string id;
  ProbeEnd end = ProbeEnd::not_run;
  int status = -1;  // exit status; 128 + signal; -1 where there is none
  std::vector<ProbePart> parts;
  std::string complaint;  // standard error, or why it ended as it did
  std::int64_t duration_ms = 0;
};

// How we got to a host at all. Unless it is `reached`, nothing about the host is known.
enum class Reach : std::uint8_t {
  reached,
  unresolved,     // no such name
  refused,        // nobody listens
  unreachable,    // no route, or no answer in time
  login_refused,  // authentication failed
  host_key,       // unknown or changed host key: never overridden here
  no_allocation,  // the batch system gave no node in time
  broken,         // ended in the middle; the answers that came whole stand
  no_probe        // we were let in, and could not run anything (no shell, full disk, odd output)
};

// "refused the connection". For people.
std::string_view reach_meaning(Reach reach);
// The stable word: "refused".
std::string_view reach_name(Reach reach);
// Whether answers of the host may have come: those that came whole stand.
bool answered(Reach reach);

// All that came back from one host in one round trip.
struct HostProbe {
  std::string host;
  Reach reach = Reach::unreachable;
  std::string complaint;  // of ssh or srun, where reach is not `reached`
  std::vector<ProbeAnswer> answers;
  // Halves of the round trip bound what the host's clock may differ by.
  std::optional<WallTime> sent_at, received_at;  // our clock
  std::optional<WallTime> host_clock;            // its clock, in between
  std::int64_t duration_ms = 0;

  const ProbeAnswer* find(std::string_view id) const;
};

}  // namespace muster::health
