#include "edge/engine/probe_child.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "edge/os/child_process.h"

namespace muster {

using health::ProbeAnswer;
using health::ProbeEnd;

ProbeAnswer run_probe_child(const std::vector<std::string>& words, Duration deadline,
                            std::size_t max_bytes) {
  ChildRun run = run_child({.words = words,
                            .variables = {"LC_ALL=C"},
                            .own_group = true,
                            .patience = deadline,
                            .most_output = max_bytes});
  ProbeAnswer answer;
  if (run.start_error != 0) {
    answer.end = run.start_error == ENOENT   ? ProbeEnd::missing
                 : run.start_error == EACCES ? ProbeEnd::denied
                                             : ProbeEnd::failed;
    answer.complaint = std::strerror(run.start_error);
    return answer;
  }
  answer.end = run.late || !run.status ? ProbeEnd::timeout
               : run.cut               ? ProbeEnd::truncated
                                       : ProbeEnd::done;
  answer.status = run.status.value_or(-1);
  answer.parts.push_back({"", std::move(run.output)});
  answer.complaint = std::move(run.errors);
  return answer;
}

}  // namespace muster
