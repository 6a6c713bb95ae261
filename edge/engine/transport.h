#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace muster {

// A program to run on a host: words, never a line for a shell of ours, and its standard input.
struct RemoteCommand {
  std::vector<std::string> words;
  std::string input;
};

struct RemoteRun {
  std::string host;
  int status = -1;  // exit status of the program; 128 + signal; -1 where it did not start
  bool timed_out = false;
  std::string output;  // standard output, at most the limit
  bool truncated = false;
  std::string errors;  // standard error of the transport and the program, the last 4 KiB
  std::int64_t sent_at_ms = 0, received_at_ms = 0;  // our wall clock, Unix ms
  std::int64_t duration_ms = 0;
};

// Runs one command on many hosts, each at most once, with a deadline for each and a bound on how
// many run at a time; one thread, one event loop. Results come as they are ready, in no order; each
// host gives exactly one, whatever happens.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;  // "local", "ssh", "slurm"
  virtual Status run(const RemoteCommand& command, std::span<const std::string> hosts,
                     Duration deadline_each, const std::function<void(RemoteRun)>& each) = 0;
};

}  // namespace muster
