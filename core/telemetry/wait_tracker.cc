#include "core/telemetry/wait_tracker.h"

#include <algorithm>

namespace muster {
namespace {

// One busy sample in a hang is a profiler, or chance.
constexpr Duration kSureWork = std::chrono::seconds(30);

}  // namespace

void WaitTracker::observe(const TickVerdict& tick, WallTime at, Trust trust) {
  if (tick.busy) {
    if (open_ && open_->after_work && trust != Trust::no) {
      doubtful_ = *open_;
      doubtful_->last = at;  // it ended with the first busy tick
    }
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
    if (tick.phase == Phase::idle || tick.phase == Phase::context_idle) open_.reset();
    return;
  }
  if (!open_) {
    open_ = Wait{};
    open_->from = open_->last = at;
    open_->after_work = last_busy_.has_value();
    shapes_.fill(0);
    odd_balance_ = 0;
    odd_candidate_.reset();
    run_odd_.reset();
  }
  extend(tick, at);
}

void WaitTracker::extend(const TickVerdict& tick, WallTime at) {
  Wait& w = *open_;
  w.longest_gap = std::max(w.longest_gap, at - w.last);
  w.last = std::max(w.last, at);
  ++w.ticks;
  ++shapes_[static_cast<std::size_t>(tick.shape)];
  if (shapes_[static_cast<std::size_t>(tick.shape)] >= shapes_[static_cast<std::size_t>(w.shape)]) {
    w.shape = tick.shape;
  }
  const bool one = tick.shape == Shape::one_zero || tick.shape == Shape::rank0_zero;
  if (tick.shape != Shape::one_zero) {
    w.one_zero_run = 0;
  } else {
    w.one_zero_run = tick.odd == run_odd_ ? w.one_zero_run + 1 : 1;
    run_odd_ = tick.odd;
  }
  if (!one) return;
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

void WaitTracker::learn(const Wait& wait) {
  longest_ = std::max(longest_.value_or(Duration{}), wait.length());
  if (wait.shape == Shape::rank0_zero) {
    ++save_count_;
    save_total_ += wait.length();
  }
  healthy_ = wait;
}

}  // namespace muster
