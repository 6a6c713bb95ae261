#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "app/triage_run.h"

namespace muster {

struct RecordProgress {
  std::uint64_t rows = 0, bytes = 0;
  std::size_t blind = 0;    // sources that are not read at this moment
  std::uint64_t steps = 0;  // of step logs
  // What tools said about GPUs in place of rows, and events of step logs.
  std::uint64_t remarks = 0;
};

struct RecordOptions {
  std::string path;
  bool force = false;  // replaces a file that is there, once the new one is whole
  // Live: sources as `triage --follow` takes them, once an interval. Otherwise files and pipes,
  // read to their end. Both until `length` has passed or `stop`.
  bool live = false;
  Duration interval = std::chrono::seconds(1);
  std::optional<Duration> length;
  std::stop_token stop;
  std::function<void(const RecordProgress&)> progress;  // every thousand rows and every round
  std::function<void(std::string_view)> report;         // a source went blind or is back, once each
  std::function<void()>
      unwritten;  // the error that comes back is of the recording, not of a source
};

struct RecordAnswer {
  RecordProgress total;
  SourceSummary summary;
};

// Writes what the sources say into a recording (edge/record/): every row and note with the time,
// the source and the host that reading gave them, and the steps of a step log. `muster triage` of
// the recording has the findings that it has of the sources.
//
// Where nothing was read at all the error is the answer, nothing new stays, and a file that was
// there is as it was. A failed write ends the run and is the answer: it says under which name that
// lies which was recorded before.
Result<RecordAnswer> record_sources(const TriageRequest& request, const RecordOptions& options,
                                    Files& files, Clock& clock);

}  // namespace muster
