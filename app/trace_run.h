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
  Grid timeline;  // without rows unless asked for
};

// Reads everything and names who hung the run. What a dump cannot tell is blind: one whose rank is
// not known, and one of a back end that does not record which calls ended.
Result<TraceAnswer> trace_once(const TraceRequest& request, Files& files);

}  // namespace muster
