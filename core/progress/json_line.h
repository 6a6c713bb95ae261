#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/timestamp.h"
#include "core/model/progress.h"

// One JSON object a line: trainer_log.jsonl of LLaMA-Factory ("current_steps", "total_steps"), our
// own metrics ("step", "target_step", "wall_ms", "event"), and structured logs ("message").

namespace muster::progress {

struct JsonLine {
  std::optional<StepRecord> step;     // with at, at_has_zone and rank where the object has them
  std::optional<ProgressKind> event;  // {"event": "save_end", ...}, by the name of the kind
  std::optional<std::int64_t> event_step;
  std::optional<Duration> duration;  // "duration_s"
  std::optional<ParsedTime> time;
  std::string message;  // to be read as a line of text
};

class JsonLineReader {
 public:
  JsonLineReader();
  JsonLineReader(JsonLineReader&&) noexcept;
  JsonLineReader& operator=(JsonLineReader&&) noexcept;
  ~JsonLineReader();

  // Nothing when the line is no JSON object or says nothing of a run.
  std::optional<JsonLine> read(std::string_view line);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace muster::progress
