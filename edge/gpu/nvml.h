#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "core/model/telemetry_source.h"

namespace muster {

// MUSTER_NVML of the environment, else the name that the loader knows.
std::string nvml_library();

struct NvmlOptions {
  std::string library = nvml_library();
  // Tests count the threads, or refuse one with std::system_error.
  std::function<std::thread(std::function<void()>)> start_thread = [](std::function<void()> run) {
    return std::thread(std::move(run));
  };
};

// The GPUs of this host through NVML, loaded at run time; a missing library is Errc::unsupported.
//
// Each GPU index has a reader thread of its own, and one more does start and count: a lost GPU can
// block inside the driver for seconds, and the others must still answer in the same tick. A reader
// that misses the deadline gives a row of absences (timeout) and a note reader_stuck; it is not
// asked again, nor replaced, until it answers, whatever the count does meanwhile. Nothing is
// killed. Destruction leaves a stuck reader behind with what it needs. A reader whose thread cannot
// start gives absences (read_error) and a note source_error; the next call tries again.
//
// Codes: 15, or 999 for the handle, is gpu_lost. 16 is the absence needs_reset, 4 permission, 3
// unsupported, without a note. 999 for one value is read_error for that value. 18 is
// driver_mismatch, said once a call.
//
// A GPU that does not say who it is keeps the UUID and PCI address that its index had, as long as
// no other index has taken that UUID: so a loss is the right board's, although indexes renumber.
//
// Not read: whether power smoothing is on. Fields 251 to 268 are about it, but which one is the
// state is not public knowledge that could be checked here.
//
// read() is Errc::timeout where nobody answered, Errc::unavailable where NVML would not start (with
// a note why); the start is tried again at the next call. One caller at a time.
Result<std::unique_ptr<TelemetrySource>> open_nvml(const NvmlOptions& options);

}  // namespace muster
