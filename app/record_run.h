#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "app/triage_run.h"

namespace muster {

struct RecordProgress {
  std::uint64_t rows = 0, bytes = 0;
};

struct RecordAnswer {
  RecordProgress total;
  SourceSummary summary;
};

// Writes every row and note of the sources into the recording `path` (edge/record/), with the time
// and the host that reading gave them. `progress` is called every thousand rows. Where nothing can
// be read the error is the answer and the file holds its first line alone; a failed write is the
// answer as well.
Result<RecordAnswer> record_sources(const TriageRequest& request, const std::string& path,
                                    bool force, Files& files, Clock& clock,
                                    const std::function<void(const RecordProgress&)>& progress);

}  // namespace muster
