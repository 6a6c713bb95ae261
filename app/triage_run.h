#pragma once

#include <string>
#include <vector>

#include "app/sources.h"
#include "core/model/fleet_view.h"

namespace muster {

struct TriageRequest {
  std::vector<std::string> sources;
  SourceOptions source_options;
  TriageOptions triage_options;
};

struct TriageAnswer {
  Report report;
  FleetView view;
};

// Reads all sources to their end and judges them.
Result<TriageAnswer> triage_once(const TriageRequest& request, Files& files, Clock& clock);

struct Learned {
  Calibration calibration;
  std::vector<Finding> doubts;  // why this may be no known-good run (Triage::doubts)
};

// The same reading, learned from instead of judged. `name` stands in the file as its source.
Result<Learned> calibrate_once(const TriageRequest& request, const std::string& name, Files& files,
                               Clock& clock);

}  // namespace muster
