#pragma once

#include <optional>

#include "core/model/progress.h"
#include "edge/os/time_zone.h"

namespace muster {

// Moves the times of a log by the zone of the reading host.
class ZonedProgress final : public ProgressSink {
 public:
  ZonedProgress(ProgressSink& target, const TimeZone* zone) : target_(target), zone_(zone) {}
  void step(const StepRecord& record) override {
    StepRecord moved = record;
    moved.at = move(record.at, record.at_has_zone);
    target_.step(moved);
  }
  void event(const ProgressEvent& event) override {
    ProgressEvent moved = event;
    moved.at = move(event.at, event.at_has_zone);
    target_.event(moved);
  }

 private:
  std::optional<WallTime> move(std::optional<WallTime> at, bool has_zone) const {
    if (!at || has_zone || zone_ == nullptr) return at;
    return zone_->to_utc(*at);
  }
  ProgressSink& target_;
  const TimeZone* zone_;
};

}  // namespace muster
