#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/model/finding.h"
#include "core/telemetry/decoder.h"
#include "core/telemetry/triage.h"
#include "edge/os/clock.h"
#include "edge/os/files.h"
#include "edge/os/time_zone.h"

namespace muster {

// Where telemetry and step logs come from, as the user names them: PATH, "-", HOST=PATH.
struct SourceSpec {
  std::string text;  // as given
  std::string host;  // before "=", empty if none
  std::string path;
};

// "n1=a.csv" -> host n1; "a=b/c.csv" only where the part before "=" looks like a host name and no
// file of the whole name exists.
SourceSpec parse_source(const std::string& text, Files& files);

struct SourceOptions {
  std::vector<ColumnMapping> columns;
  std::map<std::string, TimeZone> zones;  // by host; "" is the default for all
  std::vector<std::string> step_logs;     // read as step logs whatever they look like
  std::stop_token stop;                   // ends every input where it stands
  std::optional<MonoTime> end = {};       // so does this moment, also while a pipe says nothing
};

// A trainer's log by its first bytes; a recording is none, although it may hold one.
bool is_step_log(std::string_view head);

// What became of the inputs: what could not be read, and assumptions to tell the user.
struct SourceSummary {
  std::vector<Blind> blind;
  std::vector<std::string> notes;
  std::size_t telemetry = 0;  // inputs that gave at least one row
  std::size_t logs = 0;
  std::size_t undated = 0;  // of `telemetry`, those whose rows carry no time
};

// What `error` says about `source`, whose name need not stand in front twice.
std::string reason_of(const std::string& source, const Error& error);

// Takes rows as they come, with their time and source.
class RowTarget {
 public:
  virtual ~RowTarget() = default;
  virtual void row(const TelemetryRow& row, WallTime at, std::string_view source,
                   std::string_view default_host) = 0;
  virtual void note(const TelemetryNote& note, std::string_view source,
                    std::string_view default_host) = 0;
  virtual void begin_log(std::string_view source) = 0;
  virtual ProgressSink& log() = 0;
};

// Reads files, folders with all that is below them, archives and standard input to their end, each
// recognised by its content: telemetry of any dialect, step logs. Several telemetry inputs are
// merged by time, which holds all of them open; memory stays bounded by their number. An input that
// nobody recognises is blind, not an error; Errc of the last failure where nothing could be read at
// all.
Result<SourceSummary> read_sources(const std::vector<std::string>& sources,
                                   const SourceOptions& options, Files& files, Clock& clock,
                                   RowTarget& target);

}  // namespace muster
