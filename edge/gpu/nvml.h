#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "core/model/telemetry_source.h"

namespace muster {

struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";  // tests name a fake one
};

// The GPUs of this host through NVML, loaded at run time; a missing library is Errc::unsupported.
//
// Each GPU has a reader thread of its own, and one more does start and count: a lost GPU can block
// inside the driver for seconds, and the others must still answer in the same tick. A reader that
// misses the deadline gives a row of absences (timeout) and a note reader_stuck; it is not asked
// again, nor replaced, until it answers. Nothing is killed. Destruction leaves a stuck reader
// behind with what it needs.
//
// read() is Errc::timeout where nobody answered, Errc::unavailable where NVML would not start (with
// a note why); the start is tried again at the next call. One caller at a time.
Result<std::unique_ptr<TelemetrySource>> open_nvml(const NvmlOptions& options);

}  // namespace muster
