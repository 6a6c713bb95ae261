#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/triage_run.h"
#include "cmd/options.h"

namespace muster {

// The options that every verb on telemetry shares: sources, columns, step logs, zones.
class TelemetryOptions {
 public:
  void declare(VerbOptions& options);
  // What was asked for, or which option makes no sense.
  Result<TriageRequest> request() const;
  // The same, with `source` where none was given.
  Result<TriageRequest> request_or(const std::string& source);

 private:
  std::vector<std::string> sources_, columns_, steps_, zones_;
};

// "[HOST=]ZONE"; without a host the first is empty.
Result<std::pair<std::string, TimeZone>> parse_zone(const std::string& text);

}  // namespace muster
