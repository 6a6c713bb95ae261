#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/model/progress.h"

// Rows of an MLPerf training log as CSV: "time_ms,key,step,value". The step column counts what the
// benchmark counts: samples for language models, epochs or steps for others.

namespace muster::progress {

struct MlperfRow {
  WallTime at;  // UTC
  std::optional<ProgressKind> event;
  std::optional<std::int64_t> event_step;
  std::optional<StepRecord> step;
};

// "1715975900436,tracked_stats,4194304,train_step_timing in s=10.5". Nothing for other lines, for
// the heading and for keys that say nothing of progress.
std::optional<MlperfRow> parse_mlperf_row(std::string_view line);

}  // namespace muster::progress
