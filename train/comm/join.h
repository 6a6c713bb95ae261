#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "train/comm/communicator.h"

namespace muster::train {

class FlightRecorder;

struct CommOptions {
  // Until all ranks are there: the last may still load its libraries from a slow disk.
  Duration join_deadline = std::chrono::seconds(300);
  // Of every call, from the moment this rank comes to it; nothing: waits for ever. A save lets the
  // others wait for the disk of one.
  std::optional<Duration> deadline = std::chrono::seconds(600);
  std::optional<Duration> save_deadline = std::chrono::seconds(1800);
  // Without it, ranks that call different things wait for one another, as under a library that does
  // not compare: until one of them ends, or the deadline.
  bool check_signatures = true;
  FlightRecorder* recorder = nullptr;  // of this rank, outlives all its communicators; may be null
};

struct JoinRequest {
  int rank = 0, world = 1;
  // All ranks of one attempt of one run have the same and nobody else has: ranks of another run
  // that come to the same place are told so.
  std::string token = {};
  std::string master_address = {};  // over TCP: name or address of the host of rank 0
  std::uint16_t master_port = 0;    // over TCP: rank 0 listens there
};

// All ranks are on one host: through memory that they share. It has no name in any file system, so
// nothing is left behind however they end, and the size of /dev/shm does not matter. They find one
// another by `token`, under a name that only this network namespace has.
//
// Errc::timeout: ranks did not come in time, and which. Errc::invalid_input: another world, token
// or build, a rank that came twice. Errc::unsupported: the kernel cannot watch processes
// (before 5.3).
Result<std::unique_ptr<Communicator>> join_host(const JoinRequest& request,
                                                const CommOptions& options);

// Ranks on any hosts, over TCP, two connections for each pair. A job over several hosts uses it for
// all ranks, also those of one host: one way of moving bytes in a job, and one place to look at.
// The sums are those of join_host() bit by bit. Errors as there; Errc::not_found: no such host.
Result<std::unique_ptr<Communicator>> join_network(const JoinRequest& request,
                                                   const CommOptions& options);

// Ranks of one process, each for a thread of its own: for tests and benchmarks. The way through
// memory is that of join_host(). options[r] for rank r, or one for all.
std::vector<std::unique_ptr<Communicator>> join_threads(int world,
                                                        const std::vector<CommOptions>& options);

}  // namespace muster::train
