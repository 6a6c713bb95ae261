#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/log_event.h"

namespace muster {

// The events of one log, bounded. Of one rule, host, rank, process and subject the first
// limits::kLogEventsOfRule are kept and the rest is counted in the last of them; of context, where
// the newest counts as much as the first, limits::kLogEventsOfContext, and the rest is let go. In
// all limits::kLogEvents.
class EventKeeper {
 public:
  // In the order of the lines, but for those that only repeat. True where the event, and all like
  // it from now on, has no place of its own: it is counted in another, or takes that of an older
  // one.
  bool add(LogEvent event);
  // Once, at the end: in the order of the lines.
  std::vector<LogEvent> take();
  // Events that had no room.
  std::uint64_t not_kept() const { return not_kept_; }

 private:
  struct Kept {
    std::vector<std::size_t> places;  // in events_; of context a ring behind the first ones
    std::size_t next = 0;             // the oldest of the ring
    std::uint64_t last_line = 0;      // of the last repeat
  };
  bool add_context(LogEvent event, Kept& kept);
  bool push(LogEvent event, Kept& kept);

  std::vector<LogEvent> events_;
  std::unordered_map<std::string, Kept> kept_;
  std::uint64_t not_kept_ = 0;
};

}  // namespace muster
