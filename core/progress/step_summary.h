#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/progress.h"

// What a trainer's log amounts to, in memory that does not grow with it:
//
//   StepSummary summary;
//   decoder.feed(log, summary); decoder.finish(summary);
//   if (summary.open_save()) ... summary.median_step_s() ...
//
// Times are taken as they stand in the log. Differences are only made between two stamps of the
// same form (with or without a date); without a date a fall of more than 12 h is midnight, any
// other step back (clock set, daylight saving, two hosts) makes no difference at all.

namespace muster {

// An event or a step, with its own copy of what is worth showing.
struct SeenLine {
  std::optional<WallTime> at;
  bool at_has_zone = false;
  bool at_has_date = true;
  std::optional<std::int64_t> step;
  std::optional<Duration> duration;
  std::string text;        // at most limits::kEvidenceChars; empty for a step
  std::uint64_t line = 0;  // from 1
};

class StepSummary : public ProgressSink {
 public:
  void step(const StepRecord& record) override;
  void event(const ProgressEvent& event) override;

  // Step lines; several lines of one step in a row count once.
  std::uint64_t steps() const { return steps_; }
  std::uint64_t events() const { return events_; }
  const std::optional<StepRecord>& first_step() const { return first_; }
  // The newest line of the last step, completed from the lines of the same step before it.
  const std::optional<StepRecord>& last_step() const { return last_; }
  // Where the run wants to go, as last told.
  std::optional<std::int64_t> target_step() const { return target_; }
  // True when the last step is the target or beyond, or the log says that training is complete.
  bool complete() const;

  // The newest stamp of any line, in the order of the file.
  const std::optional<SeenLine>& last_stamped() const { return last_stamped_; }

  // Median duration of one step, exact to 1 %, from printed durations or else from the stamps of
  // lines with rising steps. Nothing below 2 values: the first steps compile.
  std::optional<double> median_step_s() const;

  // The longest save: printed, between its begin and its end, or told as an earlier one.
  std::optional<Duration> longest_save() const { return longest_save_; }
  // A save that began and has neither ended nor been followed by a later step or a restart.
  const std::optional<SeenLine>& open_save() const { return open_save_; }
  // The same of an evaluation.
  const std::optional<SeenLine>& open_eval() const { return open_eval_; }
  // Earlier saves told by the log, newest last, at most 64.
  const std::vector<SeenLine>& known_saves() const { return known_saves_; }

  // The last event of a kind, and how many there were.
  const std::optional<SeenLine>& last(ProgressKind kind) const { return slot(kind).last; }
  std::uint64_t count(ProgressKind kind) const { return slot(kind).count; }

 private:
  struct Slot {
    std::optional<SeenLine> last;
    std::uint64_t count = 0;
  };
  static constexpr std::size_t kKinds = static_cast<std::size_t>(ProgressKind::monitor_stuck) + 1;

  Slot& slot(ProgressKind kind) { return slots_[static_cast<std::size_t>(kind)]; }
  const Slot& slot(ProgressKind kind) const { return slots_[static_cast<std::size_t>(kind)]; }
  void add_step_time(const StepRecord& record);
  void close_save(const SeenLine& end);
  void offer_save(Duration duration);

  std::uint64_t steps_ = 0, events_ = 0;
  std::optional<StepRecord> first_, last_;
  std::optional<std::int64_t> target_;
  std::optional<SeenLine> last_stamped_, open_save_, open_eval_;
  std::optional<Duration> longest_save_;
  std::vector<SeenLine> known_saves_;
  std::array<Slot, kKinds> slots_;
  std::vector<std::uint64_t> step_times_;  // counts by logarithm of the duration
  std::uint64_t step_time_count_ = 0;
};

}  // namespace muster
