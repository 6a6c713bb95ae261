#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"

namespace muster {

// Where summer time ends, a local clock shows one hour twice. Read as they stand, the times of the
// second one are older than what is known, and nothing is judged for an hour. This counts them on.
class FoldedClock {
 public:
  // `same`: whoever gives this time gave the earlier ones as well, in their order: files that were
  // put behind one another, or go series by series, are no fold.
  WallTime on(WallTime at, bool same) {
    using namespace std::chrono_literals;
    if (!last_ || at >= *last_) {
      ahead_ = {};  // a zone with rules is right again after that hour
      last_ = at;
      return at;
    }
    WallTime moment = at + ahead_;
    const Duration back = *last_ - moment;
    // Less than the hour by how long nothing came, a quarter of an hour at most.
    if (same && back > 45min && back <= 60min) {
      ahead_ += 60min;
      moment += 60min;
      folded_ = true;
    }
    last_ = std::max(*last_, moment);
    return moment;
  }
  bool is_older(WallTime at) const { return last_ && at < *last_; }
  bool folded() const { return folded_; }

 private:
  std::optional<WallTime> last_;
  Duration ahead_{};
  bool folded_ = false;
};

}  // namespace muster
