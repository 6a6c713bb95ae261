#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "core/model/progress.h"
#include "core/telemetry/median_sketch.h"

namespace muster {

// A time of the step log. Logs often carry a clock without a date; the date is that of the
// telemetry.
struct LogTime {
  WallTime at{};
  bool has_date = true;

  // The moment that is meant, given the newest moment known: a bare clock becomes the last such
  // moment that is not more than an hour after it.
  WallTime near(WallTime reference) const;
};

// What triage needs from the step log of the run: is it moving, is it saving, how long do saves
// take?
class StepTrack : public ProgressSink {
 public:
  void step(const StepRecord& record) override;
  void event(const ProgressEvent& event) override;

  struct Quote {  // a line of the log, for evidence
    std::string text;
    std::uint64_t line = 0;
  };

  bool seen = false;  // any record or event
  std::int64_t steps = 0;
  std::optional<std::int64_t> last_step, target_step;
  std::uint64_t last_step_line = 0;
  std::optional<LogTime> last_step_at;
  // Begun in the log; no end, no step and no restart since.
  bool saving = false, evaluating = false;
  std::optional<LogTime> save_began, newest_compile;
  // Lines of a start (loading, compiling, resuming) are newer than the newest step.
  bool starting = false;
  std::optional<LogTime> start_at;  // the newest of them
  std::optional<Duration> longest_save;
  // The newest time that the log told, and the longest time that it told nothing while the run went
  // on: starting, compiling and being restarted do not count.
  std::optional<LogTime> heard_at;
  std::optional<Duration> longest_quiet;
  std::optional<Quote> save_quote, compile_quote, start_quote, error_quote, monitor_quote;
  bool finished = false;
  MedianSketch step_seconds;

  // At the target, or said to be complete.
  bool complete() const {
    return finished || (target_step && last_step && *last_step >= *target_step);
  }

 private:
  void note_save(Duration length);
  void note_start(const std::optional<LogTime>& at, const Quote& quote);
  // Older than the newest step: of another rank, or from an older part of the log.
  bool older(const std::optional<LogTime>& at) const;
  void hear(const std::optional<LogTime>& at, bool running);

  std::uint32_t steps_past_end_ = 0;  // since the log said that the run is finished
  bool heard_running_ = false;        // what was heard last is of a run in swing
};

}  // namespace muster
