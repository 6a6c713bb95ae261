#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

// What a trainer's log says, whatever its dialect. core/progress/ reads it; telemetry, shape, the
// watcher and the trainer itself use it.

namespace muster {

// One step line. Everything but `step` may be missing.
struct StepRecord {
  std::int64_t step = 0;
  std::optional<std::int64_t> target_step;
  std::optional<WallTime> at;
  bool at_has_zone = false;
  bool at_has_date = true;  // false: a bare clock time, dated 1970-01-01
  std::optional<double> loss, grad_norm, learning_rate;
  std::optional<double> tokens_per_s;
  std::optional<double> step_s;     // duration of the step
  std::optional<double> loading_s;  // of it, waiting for data
  std::optional<double> elapsed_s;  // since the run began, where no clock is told
  std::optional<double> mfu_ratio;
  std::optional<int> rank;
  std::uint64_t line = 0;  // from 1
};

enum class ProgressKind : std::uint8_t {
  save_begin,  // "saving checkpoint ..."
  save_end,    // "saved", "done in 122.1 s"; `duration` where it is printed
  save_known,  // an earlier save and its length is told ("step 500 117 s")
  eval_begin,
  eval_end,
  compile,  // torch.compile, inductor, autotune, warm-up lines
  startup,  // loading, building the index, first lines of a run
  epoch_end,
  finished,       // training is complete
  restarted,      // resumed from a checkpoint
  error,          // a traceback, an exception, a signal
  monitor_stuck,  // a monitor's own reader did not return in its deadline
};

struct ProgressEvent {
  ProgressKind kind = ProgressKind::startup;
  std::optional<WallTime> at;
  bool at_has_zone = false;
  bool at_has_date = true;
  std::optional<std::int64_t> step;
  std::optional<Duration> duration;
  std::string_view text;   // the line, valid during the call
  std::uint64_t line = 0;  // from 1
};

class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void step(const StepRecord& record) = 0;
  virtual void event(const ProgressEvent& event) = 0;
};

}  // namespace muster
