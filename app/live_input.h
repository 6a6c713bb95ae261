#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/sources.h"
#include "core/model/telemetry_source.h"

namespace muster {

// Something that goes on giving telemetry or log lines: a file that grows, NVML, an exporter.
class LiveInput {
 public:
  virtual ~LiveInput() = default;
  virtual std::string name() const = 0;
  // Takes what has come since the last call. An error is what the source is blind with until a
  // later call succeeds.
  virtual Status poll(MonoTime deadline, RowTarget& target) = 0;
  // Whether all of its rows stood there without a time before anybody looked: nobody knows when
  // they were taken. Those that come later have come when they did. Nothing: no rows yet.
  virtual std::optional<bool> undated() const = 0;
};

// A file that grows: telemetry or a step log, recognised once its first bytes are there. `log`:
// read as a step log whatever it looks like. A file that is not there yet is an error at each poll.
std::unique_ptr<LiveInput> make_tail(SourceSpec spec, bool log, SourceOptions options, Files& files,
                                     Clock& clock);

// A live source; rows without a time get the wall time of the poll. `host` where rows name none.
std::unique_ptr<LiveInput> make_polled(std::unique_ptr<TelemetrySource> source, std::string host,
                                       Clock& clock);

// The source that `spec` names if it is a live one ("nvml", "http://..."), nothing for a path.
Result<std::unique_ptr<TelemetrySource>> open_live(const SourceSpec& spec);
bool is_live(const SourceSpec& spec);

}  // namespace muster
