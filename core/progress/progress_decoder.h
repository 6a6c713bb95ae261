#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/model/progress.h"
#include "core/progress/user_pattern.h"

// Bytes of a trainer's log, whatever its dialect -> steps and events (core/model/progress.h).
//
//   ProgressDecoder decoder;
//   decoder.feed(chunk, sink); ... decoder.finish(sink);
//
// Dialects may be mixed in one log (a launcher's lines, bars, dictionaries, plain step lines), so
// every line is shown to every reader, cheap ones first. Chunks may be cut anywhere; memory does
// not grow with the log. Records come in the order of the lines, never sorted by time: a log that
// crosses a change of daylight saving or is written by several hosts keeps its order. "\n" and "\r"
// both end a line (bars redraw with "\r"); lines are counted by "\n". A damaged line loses itself
// only.
//
// The same step may be told twice (a bar, then a dictionary with its loss): records with the step
// of the record before are additions to it. Steps of an attempt rise; a lower step is a restart.
// Stamps without a zone or without a date are marked, see StepRecord. Single-threaded.

namespace muster {

class ProgressDecoder {
 public:
  // With a pattern, lines that it matches are read by it alone.
  explicit ProgressDecoder(std::optional<UserPattern> pattern = std::nullopt);
  ProgressDecoder(ProgressDecoder&&) noexcept;
  ProgressDecoder& operator=(ProgressDecoder&&) noexcept;
  ~ProgressDecoder();

  void feed(std::string_view chunk, ProgressSink& sink);
  // The log has ended: the torn last line is read. Call once.
  void finish(ProgressSink& sink);

  // Lines dropped because they were longer than limits::kLineBytes.
  std::uint64_t dropped_lines() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// True for a trainer's log, a note of earlier saves ("previous saves: step 500 117 s"), or the log
// of a monitor, by the first bytes of the input (8 KiB are plenty). Never for a telemetry table or
// a kernel log.
bool looks_like_progress(std::string_view head);

}  // namespace muster
