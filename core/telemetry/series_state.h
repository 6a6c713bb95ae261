#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/model/reading.h"
#include "core/telemetry/bands.h"

namespace muster {

// A counter between its first and its newest value; it may restart (driver reload) in between.
struct CounterTrack {
  std::optional<double> first, newest;
  WallTime first_at{}, newest_at{};
  double grown = 0;

  void observe(double value, WallTime at);
  // Growth per second over the time seen; nothing before two values.
  std::optional<double> rate_per_s() const;
};

// How often something was so, among the samples where it could be judged.
struct Tally {
  std::uint32_t judged = 0, hits = 0;
  std::uint8_t recent = 0;  // the newest eight, newest in bit 0

  void add(bool hit);
  double share() const { return judged == 0 ? 0 : static_cast<double>(hits) / judged; }
  bool two_of_last_three() const;
};

// The enforced power limit, as far as it stands: one odd read is no limit.
struct LimitTrack {
  std::optional<double> value_w;
  std::uint32_t reads = 0;  // in a row
  WallTime from{}, to{};    // of these reads

  void observe(double watts, WallTime at);
  // Where it was read five times or more over half a minute or more.
  std::optional<double> steady_w() const;
};

// Everything that is remembered about one series. Fixed size: memory does not grow with time.
struct SeriesState {
  std::array<Reading, kMetricCount> newest{};
  std::string source;  // file or URL of its newest row
  std::uint64_t line = 0;
  WallTime first_at{}, at{};
  bool spoke = false;  // since the last tick
  std::uint64_t rows = 0;
  std::optional<double> period_s;      // smoothed distance of its rows
  std::uint8_t slow_gaps = 0;          // which of the newest eight distances were far longer
  Duration behind{};                   // by how much its rows come with an older time than others'
  WallTime power_told{}, util_told{};  // when power and utilization were last spoken of
  Bands bands;
  double bands_limit_w = -1, bands_reference_w = -1;  // what `bands` was made from

  bool ever_active = false;            // was seen at work, or busy
  std::uint32_t idle_beside_work = 0;  // ticks at 0 % while the others computed, since it worked
  WallTime idle_beside_since{};        // the first of them
  bool out_of_run = false;             // of no use to the run, until it works
  std::uint64_t power_rows = 0, util_rows = 0;
  bool zero_watts = false;        // 0 W is no reading of a live board
  std::uint32_t frozen_rows = 0;  // newest rows in a row with the same odd power value
  std::uint64_t power_hash = 0;   // of the first kHashedRows power values that changed
  std::uint32_t hashed = 0;
  double hashed_low_w = 0, hashed_high_w = 0;  // the least and the most of them
  LimitTrack limit;
  bool lost = false, needs_reset = false;
  double high_sum_w = 0;
  std::uint64_t high_rows = 0;

  CounterTrack ecc_corrected, ecc_uncorrected, link_downed, symbol_errors;
  std::optional<double> first_xid;
  std::vector<int> new_xids;  // codes that the gauge changed to, at most eight
  bool port_was_active = false;
  Tally hw_throttle, sw_thermal, power_cap, pcie_gen_low, pcie_width_low, low_power, low_clock;
  Tally clock_held_down;       // throttled and slower than its peers
  Tally high_clock, odd_util;  // a clock above the peers', utilization unlike theirs
  double low_power_ratio = 1;  // of the newest low sample

  static constexpr std::uint32_t kHashedRows = 24;
  // Boards at rest step between a few values, and two of them can do so alike.
  static constexpr double kHashedSpanW = 5;

  Reading get(Metric m) const { return newest[static_cast<std::size_t>(m)]; }
  // A source that goes on without these has not told them: an old value is not kept for ever.
  Reading power() const;
  std::optional<double> util() const;

 private:
  bool told(WallTime when) const;
};

}  // namespace muster
