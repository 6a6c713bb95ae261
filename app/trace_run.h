#pragma once

#include <string>
#include <vector>

#include "app/trace_input.h"
#include "core/model/finding.h"
#include "core/model/grid.h"

namespace muster {

struct TraceRequest {
  std::vector<std::string> paths;
  TraceInputOptions input;
  bool timeline = false;
  std::string torch_version;  // for the advice where no dump was found
};

struct TraceAnswer {
  Report report;
  Grid timeline;         // without rows unless asked for
  std::string settings;  // lines of the environment to set, where no dump was found
};

// Reads everything and names who hung the run.
Result<TraceAnswer> trace_once(const TraceRequest& request, Files& files);

}  // namespace muster
