#pragma once

#include <cstdint>
#include <optional>

#include "app/folded_clock.h"
#include "core/model/progress.h"
#include "edge/os/time_zone.h"

namespace muster {

// What is remembered of the clock of a log, from one piece of it to the next.
struct LogClockState {
  FoldedClock folded;
  std::optional<std::int64_t> step;
};

// Moves the times of a log by the zone of the reading host.
class ZonedProgress final : public ProgressSink {
 public:
  ZonedProgress(ProgressSink& target, const TimeZone* zone, LogClockState& clock)
      : target_(target), zone_(zone), clock_(clock) {}
  void step(const StepRecord& record) override {
    StepRecord moved = record;
    // Steps that count on are those of the same run, whatever the clock shows.
    const bool on =
        clock_.step && record.step >= *clock_.step && record.step <= *clock_.step + 1000;
    moved.at = move(record.at, record.at_has_zone, record.at_has_date, on);
    clock_.step = record.step;
    target_.step(moved);
  }
  void event(const ProgressEvent& event) override {
    ProgressEvent moved = event;
    moved.at = move(event.at, event.at_has_zone, event.at_has_date, false);
    target_.event(moved);
  }

 private:
  std::optional<WallTime> move(std::optional<WallTime> at, bool has_zone, bool has_date,
                               bool same) {
    if (!at || has_zone) return at;
    const WallTime utc = zone_ != nullptr ? zone_->to_utc(*at) : *at;
    return has_date ? clock_.folded.on(utc, same) : utc;
  }
  ProgressSink& target_;
  const TimeZone* zone_;
  LogClockState& clock_;
};

}  // namespace muster
