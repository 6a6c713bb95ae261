#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/log_event.h"
#include "core/model/progress.h"
#include "core/progress/progress_decoder.h"

namespace muster {

// What a run did, as context among the events of all logs:
//
//   ProgressEvents events("train.log", keep);      // keep(LogEvent) is called with each
//   events.line(text, number);                     // lines with one of event_words()
//   events.step_line(text, number);                // lines with one of step_words() alone
//   events.finish();
//
// Rules are "progress:save_begin", "progress:save_end", "progress:eval_begin",
// "progress:eval_end", "progress:finished", "progress:restarted", "progress:long_work" for other
// work that counts upward, and "progress:last_step" before a restart and at the end. Words are
// "step", "target_step", "seconds", and "done", "of" where a count is printed.
class ProgressEvents {
 public:
  using Keep = std::function<void(LogEvent)>;
  ProgressEvents(std::string source, Keep keep);

  void line(std::string_view text, std::uint64_t number);
  // Only remembered: a log has millions of them, and the last one before news is what counts.
  void step_line(std::string_view text, std::uint64_t number);
  void finish();

 private:
  class Sink;
  struct Remembered {
    std::string text;
    std::uint64_t number = 0;
  };
  void tell_last_step();

  std::string source_;
  Keep keep_;
  ProgressDecoder decoder_;
  std::deque<Remembered> steps_;  // newest last
};

}  // namespace muster
