#pragma once

#include <string>
#include <vector>

#include "core/model/telemetry_row.h"
#include "edge/gpu/nvml_api.h"

namespace muster::nvml {

struct GpuSample {
  int index = 0;
  Return handle = kOk;  // what asking for the handle returned; nothing else was asked if not kOk
  bool lost = false;    // 15 from anything, or 999 for the handle; 999 for a value is that value's
  bool mismatch = false;
  // Empty where not told: a lost GPU may not say who it is.
  std::string uuid, pci, name;
  std::vector<MetricReading> readings;
  WallTime at{};  // when the reading ended; set by the caller
};

// All that one GPU says. Blocks as long as the driver does.
GpuSample read_gpu(const Api& api, int index);
// The same metrics, all absent.
std::vector<MetricReading> absent_readings(Absence why);
Absence absence_of(Return code);

}  // namespace muster::nvml
