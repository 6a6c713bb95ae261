#pragma once

#include <string_view>

#include "base/result.h"
#include "core/model/progress.h"

// The answer of a Prometheus server to /api/v1/query_range, as JSON, where its metrics speak of
// training steps: "train_step_time_seconds", "tokens_per_second", "mfu", "train_step". Names are
// read like those of columns (step_table.h), so the query must keep them (no rate(), no sum()).
// Records come in order of time, one for each time; several series of one quantity (ranks) make the
// slowest. Without a metric of the step itself, steps are counted by the times.

namespace muster {

// By its first bytes; also for answers about other things than steps.
bool looks_like_step_metrics(std::string_view head);

struct StepMetrics {
  std::size_t records = 0;
  std::size_t passed_over = 0;  // series of other quantities, or without a name
};
// Errc::invalid_input for what is no such answer or says
// that the query failed; Errc::corrupt for a document that was cut.
Result<StepMetrics> read_step_metrics(std::string_view json, ProgressSink& sink);

}  // namespace muster
