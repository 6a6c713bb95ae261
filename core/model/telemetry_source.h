#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/model/telemetry_row.h"

namespace muster {

// A live source of telemetry: NVML of this host, an exporter's page, a Prometheus server, a
// recording. Real, recorded, replayed and faulty ones stand behind this.
class TelemetrySource {
 public:
  virtual ~TelemetrySource() = default;
  // As the user named it, for evidence: "nvml", "n1=http://n1:9400/metrics".
  virtual std::string name() const = 0;
  // Pushes one sample of every series into `sink`. Returns by `deadline`, whatever the other side
  // does: a reader that hangs inside a driver is left behind and this is Errc::timeout, again at
  // every call until it answers. A series that could not be read is a row of absences, or a note.
  virtual Status read(MonoTime deadline, TelemetrySink& sink) = 0;
};

}  // namespace muster
