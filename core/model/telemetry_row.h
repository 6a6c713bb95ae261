#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"
#include "core/model/metric.h"
#include "core/model/progress.h"
#include "core/model/reading.h"

// What every telemetry source says, whatever its dialect: rows about one series (a GPU, a port, a
// task) at one moment, and notes beside them. Readers (core/telemetry/, edge/gpu/, edge/net/) push
// them into a TelemetrySink as they read; nothing is kept, so memory does not grow with the input.
// All views are valid during the call only.

namespace muster {

enum class SeriesKind : std::uint8_t { gpu, port, task, node };

// Who the row is about, as far as the source says. UUID and PCI address name a GPU for good;
// an index is a label that renumbers when a GPU is lost.
struct SeriesKey {
  SeriesKind kind = SeriesKind::gpu;
  std::string_view host;     // empty: the source's own host (TelemetryOptions::host, else "this")
  std::string_view uuid;     // "GPU-..."
  std::string_view pci;      // any spelling; the fleet normalizes to "0000:3b:00"
  std::optional<int> index;  // GPU index on its host
  std::optional<int> rank;   // global rank or task number
  std::string_view device;   // port: "mlx5_0/1"
  std::string_view name;     // model: "NVIDIA B300 SXM6 AC"
  std::string_view group;    // "rack=7", where the source has such a column
};

struct MetricReading {
  Metric metric;
  Reading reading;
};

struct TelemetryRow {
  SeriesKey key;
  // Absent where the source prints no time: the caller of the decoder knows when it was read.
  std::optional<WallTime> at;
  bool at_has_zone = false;
  std::span<const MetricReading> readings;
  std::uint64_t line = 0;  // from 1; 0 where lines mean nothing
  // Where a recording has the row from, for evidence; empty: the input itself is the source.
  std::string_view source = {};
};

// Things a source says that are no row.
enum class NoteKind : std::uint8_t {
  gpu_lost,         // "Unable to determine the device handle ...", "GPU is lost"
  driver_mismatch,  // driver/library version mismatch
  driver_missing,   // no driver, no NVML, could not communicate
  no_devices,       // "No devices were found"
  device_access,    // "Failed to initialize NVML: Unknown Error" (cgroup), insufficient permissions
  reader_stuck,     // a monitor says that its reader did not return
  source_error,     // another error text of the tool
  damaged_line,     // a line was lost; `text` says why
  truncated,  // the input ends in the middle of a line or document: normal for a killed sampler
  schema,     // the heading changed, an expected field is gone
};

struct TelemetryNote {
  NoteKind kind;
  std::string_view text;  // the line itself, or the reason
  std::uint64_t line = 0;
  std::string_view pci;  // gpu_lost, where the text names one
  std::optional<int> index;
  std::string_view source = {}, host = {};  // as in a row
};

class TelemetrySink {
 public:
  virtual ~TelemetrySink() = default;
  virtual void row(const TelemetryRow& row) = 0;
  virtual void note(const TelemetryNote& note) = 0;
  // What the step log `source` said: a recording keeps it beside its rows, nothing else calls
  // these. Who has no use for steps leaves them out.
  virtual void step(const StepRecord&, std::string_view /*source*/) {}
  virtual void event(const ProgressEvent&, std::string_view /*source*/) {}
};

}  // namespace muster
