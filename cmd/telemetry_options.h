#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/triage_run.h"
#include "cmd/options.h"

namespace muster {

// The options that every verb on telemetry shares: sources, columns, step logs, zones,
// and what their answers go by.
class TelemetryOptions {
 public:
  void declare(VerbOptions& options);
  // For a verb that judges: --calibration as well.
  void declare_judging(VerbOptions& options);
  // What was asked for, or which option makes no sense.
  Result<TriageRequest> request() const;
  // The same, with `source` where none was given.
  Result<TriageRequest> request_or(const std::string& source);
  // Puts the calibration that was asked for into `request`; an error of its file.
  Status add_calibration(TriageRequest& request) const;
  const std::vector<std::string>& steps() const { return steps_; }

 private:
  std::vector<std::string> sources_, columns_, steps_, zones_;
  std::string calibration_;
};

// "[HOST=]ZONE"; without a host the first is empty.
Result<std::pair<std::string, TimeZone>> parse_zone(const std::string& text);

}  // namespace muster
