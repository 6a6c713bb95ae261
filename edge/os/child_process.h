#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster {

// A program to run to its end, with an empty standard input.
struct ChildRequest {
  std::vector<std::string> words;  // a program of PATH or a path, then its arguments
  // Over those of this process: "LC_ALL=C".
  std::vector<std::string> variables = {};
  // In a process group of its own, which is killed whole: what it starts ends with it. Else it
  // stays in ours, and the signals of our terminal reach it too.
  bool own_group = false;
  Duration patience;            // from its start; then it is killed
  std::size_t most_output = 0;  // bytes that are kept; more is read and dropped
  std::size_t most_errors = 4096;
  std::stop_token stop = {};  // kills it too
};

struct ChildRun {
  int start_error = 0;  // errno where it could not be started, ENOENT where there is no program
  // Exit status, or 128 + the signal that ended it; absent where it did not end by itself soon
  // after it had closed its output, or where the kernel does not let go of it.
  std::optional<int> status;
  bool late = false, stopped = false;  // killed for it
  bool cut = false;                    // it wrote more than most_output
  std::string output, errors;
};

ChildRun run_child(const ChildRequest& request);

}  // namespace muster
