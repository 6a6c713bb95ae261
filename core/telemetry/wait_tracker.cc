#include "core/telemetry/wait_tracker.h"

#include <algorithm>

namespace muster {
namespace {

// One busy sample in a hang is a profiler, or chance.
constexpr Duration kSureWork = std::chrono::seconds(30);
// A dip to nothing between two steps is shorter; a run that starts again takes longer.
constexpr Duration kRest = std::chrono::seconds(30);
// Ticks further apart than this, and than four times their usual distance, leave a hole.
constexpr Duration kHole = std::chrono::seconds(60);
constexpr double kHoleFactor = 4;
// Before that there is no usual distance: a few looks by hand, minutes or hours apart.
constexpr std::uint32_t kGapsMin = 8;
constexpr std::size_t kOddsKept = 16;
// Shorter waits than this, a dip between two steps, do not say what a save of this run looks like.
constexpr Duration kTellingWait = std::chrono::seconds(20);

bool one_apart(Shape shape) {
  return shape == Shape::one_zero || shape == Shape::rank0_zero;
}

}  // namespace

// Time that nobody saw is no time at the floor: a sampler that stood still, or a clock that was set
// (an hour at once, where summer time begins).
void WaitTracker::measure_gap(WallTime at) {
  const Duration gap = newest_ ? at - *newest_ : Duration{};
  newest_ = at;
  hole_ = {};
  if (gap <= Duration{}) return;
  const double seconds = duration_to_seconds(gap);
  const bool usual = gaps_++ < kGapsMin || seconds <= kHoleFactor * period_s_;
  if (gap > kHole && !usual) {
    hole_ = newest_hole_ = gap;
    hole_to_ = at;
  }
  period_s_ = gaps_ == 1 ? seconds : 0.8 * period_s_ + 0.2 * seconds;
}

Duration WaitTracker::unseen_since(WallTime at) const {
  return std::clamp<Duration>(hole_to_ - at, Duration{}, newest_hole_);
}

void WaitTracker::observe(const TickVerdict& tick, WallTime at, Trust trust) {
  measure_gap(at);
  if (tick.busy) {
    if (open_ && open_->after_work && trust != Trust::no) {
      doubtful_ = *open_;
      doubtful_->last = at;  // it ended with the first busy tick
      doubtful_->unseen += hole_;
    }
    rest_since_.reset();
    rested_.reset();
    const bool lasted = doubtful_ && at - doubtful_->last >= kSureWork;
    if (doubtful_ && (lasted || (open_ && trust == Trust::yes))) {
      learn(*doubtful_);
      doubtful_.reset();
    }
    open_.reset();
    if (!first_busy_) first_busy_ = at;
    last_busy_ = at;
    return;
  }
  doubtful_.reset();
  if (!tick.at_floor) {
    // Idle ends a wait without making it healthy; where nothing is known, or a few work while the
    // others wait, it stays open as it is.
    if (tick.phase == Phase::idle || tick.phase == Phase::context_idle) {
      open_.reset();
      if (!rest_since_) rest_since_ = at;
      if (!rested_ && at - *rest_since_ >= kRest) rested_ = rest_since_;
    }
    return;
  }
  rest_since_.reset();
  if (!open_) {
    open_ = Wait{};
    open_->from = open_->last = open_->resumed = at;
    open_->after_work = last_busy_.has_value();
    open_->rest_from = rested_;
    hole_ = {};
    shapes_.fill(0);
    odd_balance_ = 0;
    odd_candidate_.reset();
    run_odd_.reset();
  }
  extend(tick, at);
}

void WaitTracker::extend(const TickVerdict& tick, WallTime at) {
  Wait& w = *open_;
  if (hole_ > Duration{}) {
    w.unseen += hole_;
    w.resumed = at;
  } else {
    w.longest_gap = std::max(w.longest_gap, at - w.last);
  }
  w.last = std::max(w.last, at);
  ++w.ticks;
  ++shapes_[static_cast<std::size_t>(tick.shape)];
  if (shapes_[static_cast<std::size_t>(tick.shape)] >= shapes_[static_cast<std::size_t>(w.shape)]) {
    w.shape = tick.shape;
  }
  if (tick.shape != Shape::one_zero) {
    w.one_zero_run = 0;
  } else {
    w.one_zero_run = tick.odd == run_odd_ ? w.one_zero_run + 1 : 1;
    run_odd_ = tick.odd;
  }
  if (!one_apart(tick.shape)) return;
  if (odd_candidate_ == tick.odd) {
    ++odd_balance_;
    ++w.odd_ticks;
  } else if (odd_balance_ == 0) {
    odd_candidate_ = tick.odd;
    odd_balance_ = 1;
    w.odd_ticks = 1;
  } else {
    --odd_balance_;
  }
  w.odd = odd_candidate_;
}

bool WaitTracker::looked_healthy(const Wait& wait) const {
  if ((healthy_shapes_ & (1u << static_cast<unsigned>(wait.shape))) == 0) return false;
  if (!one_apart(wait.shape) || !wait.odd) return true;
  return std::find(healthy_odds_.begin(), healthy_odds_.end(), *wait.odd) != healthy_odds_.end();
}

void WaitTracker::learn(const Wait& wait) {
  longest_ = std::max(longest_.value_or(Duration{}), wait.length());
  if (wait.length() >= kTellingWait && !looked_healthy(wait)) {
    healthy_shapes_ =
        static_cast<std::uint16_t>(healthy_shapes_ | (1u << static_cast<unsigned>(wait.shape)));
    if (one_apart(wait.shape) && wait.odd && healthy_odds_.size() < kOddsKept) {
      healthy_odds_.push_back(*wait.odd);
    }
  }
  if (wait.shape == Shape::rank0_zero) {
    ++save_count_;
    save_total_ += wait.length();
  }
  healthy_ = wait;
}

}  // namespace muster
