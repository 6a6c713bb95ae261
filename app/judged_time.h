#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"

namespace muster {

// As of when the rounds of a live run are judged: what comes live grows old by the wall clock, also
// when it has ended; an old file that is followed is judged at its own time. One that has spoken
// within the last hour is live, and stays so.
class JudgedTime {
 public:
  // `newest`: the time of the newest row so far, if any; `wall`: the clock at this round.
  WallTime at(std::optional<WallTime> newest, WallTime wall) {
    if (!newest) return wall;
    live_ = live_ || wall - *newest <= std::chrono::hours(1);
    return live_ ? std::max(wall, *newest) : *newest;
  }

 private:
  bool live_ = false;
};

}  // namespace muster
