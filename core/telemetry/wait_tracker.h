#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/telemetry/tick.h"

namespace muster {

// One stay at the power floor.
struct Wait {
  WallTime from{}, last{};  // first and newest tick at the floor
  std::uint32_t ticks = 0;
  Duration longest_gap{};   // between two ticks inside it: what sparse sampling may have missed
  Duration unseen{};        // holes: far longer than the distance of ticks, or a clock that jumped
  WallTime resumed{};       // first tick after the newest hole; `from` where there is none
  bool after_work = false;  // work was seen before it
  // Between that work and it nothing ran anywhere for half a minute or more, from here on.
  std::optional<WallTime> rest_from;
  Shape shape = Shape::none;    // the most frequent
  std::optional<SeriesId> odd;  // the one that was odd in most ticks of a one-rank shape
  std::uint32_t odd_ticks = 0;
  // Ticks in a row in the shape of a hang by the two-samples rule (one_zero with the same rank).
  std::uint32_t one_zero_run = 0;

  // What is certain: from the first to the last tick, less what nobody saw.
  Duration length() const { return last - from - unseen; }
  Duration unbroken() const { return last - resumed; }
};

// Follows the floor through the ticks of a run. A busy tick ends a wait and makes it a healthy one;
// a tick at which nothing runs at all (idle) ends it without saying that it was healthy.
class WaitTracker {
 public:
  // How far the open wait, should it end in work now, would have been a healthy one.
  enum class Trust : std::uint8_t {
    yes,
    after_work,  // it was called a hang: if half a minute of nothing but work follows
    no,          // a restart may have ended it
  };
  void observe(const TickVerdict& tick, WallTime at, Trust trust);

  const std::optional<Wait>& open() const { return open_; }
  // The newest wait that ended in work; its `last` is the first busy tick.
  const std::optional<Wait>& newest_healthy() const { return healthy_; }
  // Longest healthy wait, from its first floor tick to the first busy one.
  std::optional<Duration> longest_healthy() const { return longest_; }
  // Whether a healthy wait looked like this one: the shape, and the rank where one is apart.
  bool looked_healthy(const Wait& wait) const;
  // How much of the time since then was not seen, as far as the newest hole tells.
  Duration unseen_since(WallTime at) const;
  // Healthy waits in the shape of a save: how many, how long together.
  std::uint32_t save_count() const { return save_count_; }
  Duration save_total() const { return save_total_; }
  // From the first busy tick to the newest tick.
  std::optional<WallTime> first_busy() const { return first_busy_; }
  std::optional<WallTime> last_busy() const { return last_busy_; }

 private:
  void extend(const TickVerdict& tick, WallTime at);
  void learn(const Wait& wait);
  void measure_gap(WallTime at);

  std::optional<Wait> open_, healthy_;
  std::optional<Wait> doubtful_;  // ended in work that has not lasted yet
  std::optional<Duration> longest_;
  std::uint32_t save_count_ = 0;
  Duration save_total_{};
  std::optional<WallTime> first_busy_, last_busy_;
  std::array<std::uint32_t, 16> shapes_{};  // ticks of the open wait, by Shape
  std::uint32_t odd_balance_ = 0;           // majority vote over `odd` (Boyer-Moore)
  std::optional<SeriesId> odd_candidate_;
  std::optional<SeriesId> run_odd_;  // of the newest one_zero tick
  std::optional<WallTime> newest_;
  double period_s_ = 0;     // smoothed distance of ticks
  std::uint32_t gaps_ = 0;  // distances seen
  Duration hole_{};         // before the newest tick; zero where it came in time
  WallTime hole_to_{};      // the end of the newest one
  Duration newest_hole_{};
  std::optional<WallTime> rest_since_;
  std::optional<WallTime> rested_;      // since the newest work, for long enough
  std::uint16_t healthy_shapes_ = 0;    // a bit for each Shape
  std::vector<SeriesId> healthy_odds_;  // ranks that were apart in healthy waits
};

}  // namespace muster
