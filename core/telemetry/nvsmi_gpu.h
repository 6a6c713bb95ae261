#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/telemetry_row.h"

namespace muster {

// What one <gpu> element of `nvidia-smi -q -x` says. Rules: nvsmi_xml.h.
struct NvsmiGpu {
  std::string pci, uuid, name;
  std::vector<MetricReading> readings;
  bool lost = false;
};

// `xml` is the whole element, from "<gpu " to "</gpu>". Errc::corrupt where it is not well formed,
// Errc::exhausted where it is nested too deep.
Result<NvsmiGpu> parse_nvsmi_gpu(std::string_view xml);

}  // namespace muster
