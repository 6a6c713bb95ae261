#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/median.h"
#include "core/telemetry/triage_state.h"

namespace muster {
namespace {

constexpr double kBusyPercent = 90, kZeroPercent = 5;
// A straggler draws "far less": the public cases are 0.60 of the peers; healthy GPUs of one node in
// the same state lie within 6 %, nodes within 5 %.
constexpr double kStragglerRatio = 0.78, kPeerSpread = 0.15, kLowClockRatio = 0.90;
// A board that draws less and runs faster has less to do (1900 against 1755 MHz); clocks of boards
// with the same work lie within 2 %, their utilization within 2 points.
constexpr double kHighClockRatio = 1.03, kOddUtilPoints = 4;
constexpr std::size_t kPeersMin = 4;  // the one and three to hold it against
// At rest beside work: a host that once worked may come back from a restart of its own.
constexpr std::uint32_t kTicksToLeave = 3;
constexpr Duration kTimeToLeave = std::chrono::minutes(2);
constexpr std::size_t kSegmentsKept = 64, kRecentTicks = 30, kModelsLearned = 64;

// Bits of the clock event reasons.
constexpr std::uint64_t kIdleBit = 0x1, kPowerCapBit = 0x4, kSwThermalBit = 0x20;
constexpr std::uint64_t kHardwareBits = 0x8 | 0x40 | 0x80;

void update_reference(TriageState& s) {
  std::array<std::vector<double>, 4> watts;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    if (!s.in_run(id) || !s.fresh(id)) continue;
    const Reading power = s.series[id].power();
    if (!power.has_value()) continue;
    watts[static_cast<std::size_t>(s.fleet.identity(id).kind)].push_back(power.value());
  }
  for (std::size_t kind = 0; kind < watts.size(); ++kind) {
    if (watts[kind].empty()) continue;
    const double median = median_of(watts[kind]);
    ReferenceLevel& level = s.reference[kind];
    level.lowest_w = level.highest_w == 0 ? median : std::min(level.lowest_w, median);
    level.highest_w = std::max(level.highest_w, median);
  }
}

void refresh_bands(TriageState& s, SeriesId id) {
  SeriesState& series = s.series[id];
  const Reading limit = series.get(Metric::power_limit_w);
  const double limit_w = limit.value_or(-2);
  const double reference_w =
      s.reference[static_cast<std::size_t>(s.fleet.identity(id).kind)].highest_w;
  const bool same = series.bands_limit_w == limit_w &&
                    (!series.bands.relative || series.bands_reference_w == reference_w) &&
                    series.bands.known;
  if (same) return;
  series.bands = bands_for(s.fleet.identity(id), limit, reference_w, s.options.calibration);
  series.bands_limit_w = limit_w;
  series.bands_reference_w = reference_w;
}

bool works(const TickInput& in) {
  if (!in.util_percent && in.level == PowerLevel::none) return false;
  const double util = in.util_percent.value_or(in.level >= PowerLevel::mid ? 100 : 0);
  return util >= 80 || (util > kZeroPercent && in.level >= PowerLevel::mid);
}

bool rests(const TickInput& in) {
  return in.util_percent && *in.util_percent <= kZeroPercent && in.level <= PowerLevel::floor;
}

TickInput input_of(const TriageState& s, SeriesId id) {
  const SeriesState& series = s.series[id];
  const SeriesIdentity& who = s.fleet.identity(id);
  const ReferenceLevel& level = s.reference[static_cast<std::size_t>(who.kind)];
  TickInput in;
  in.id = id;
  in.level = series.bands.level_of(series.power());
  in.util_percent = series.util();
  in.may_spin = series.power().has_value() && series.power().value() <= series.bands.spin_max_w;
  in.whole_node = who.kind == SeriesKind::node;
  in.rank0 = who.rank ? *who.rank == 0 : who.index && *who.index == 0;
  const double proof = who.kind == SeriesKind::node ? 0.6 : 0.5;
  in.levels_proven = !series.bands.relative || level.lowest_w <= proof * level.highest_w;
  return in;
}

void gather_inputs(TriageState& s) {
  s.inputs.clear();
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    if (s.fleet.identity(id).kind == SeriesKind::port || !s.fresh(id)) continue;
    refresh_bands(s, id);
    SeriesState& series = s.series[id];
    const TickInput in = input_of(s, id);
    if (works(in)) {
      series.idle_beside_work = 0;
      series.out_of_run = false;
    }
    if (!series.out_of_run) s.inputs.push_back(in);
  }
}

void count_rest(TriageState& s, SeriesState& series) {
  if (series.idle_beside_work++ == 0) series.idle_beside_since = s.tick_at;
}

// GPUs that never worked here and stand at 0 % while others work are not of this run.
void leave_out_bystanders(TriageState& s) {
  const bool work = std::any_of(s.inputs.begin(), s.inputs.end(),
                                [](const TickInput& in) { return in.level >= PowerLevel::mid; });
  if (!work) return;
  std::erase_if(s.inputs, [&](const TickInput& in) {
    SeriesState& series = s.series[in.id];
    if (series.ever_active || !rests(in)) return false;
    count_rest(s, series);
    series.out_of_run = series.idle_beside_work >= kTicksToLeave;
    return true;
  });
}

// A host that was taken out of the run rests as a whole, while most others compute as if it did not
// exist. Ranks that wait for it would not compute, not for long.
void leave_out_hosts_that_left(TriageState& s) {
  std::map<std::string_view, bool> rest;  // by host: all of it
  std::size_t high = 0, low = 0;
  for (const TickInput& in : s.inputs) {
    rest.try_emplace(s.fleet.identity(in.id).host, true).first->second &= rests(in);
    high += in.level == PowerLevel::high && in.levels_proven;
    low += !rests(in) && in.level < PowerLevel::high;
  }
  if (high <= low) return;
  std::erase_if(s.inputs, [&](const TickInput& in) {
    if (!rest.at(s.fleet.identity(in.id).host)) return false;
    SeriesState& series = s.series[in.id];
    count_rest(s, series);
    series.out_of_run = series.idle_beside_work >= kTicksToLeave &&
                        s.tick_at - series.idle_beside_since >= kTimeToLeave;
    return series.out_of_run;
  });
}

void mark_activity(TriageState& s) {
  for (const TickInput& in : s.inputs) {
    SeriesState& series = s.series[in.id];
    if (works(in)) series.ever_active = true;
    if (in.level == PowerLevel::high) {
      series.high_sum_w += series.power().value();
      ++series.high_rows;
    }
  }
}

// GPUs of one model that work at this tick, to be held against each other.
struct Peers {
  std::vector<SeriesId> ids;
  std::vector<double> watts, clocks, utils, limits_w;  // 0 where a clock or limit is not told
};

// Each held against its own limit, so that a lower cap is not taken for a lame GPU; in watts where
// no limit is told. Where only some tell theirs, nothing can be compared.
bool relate_to_limits(Peers& peers) {
  const auto told = std::count_if(peers.limits_w.begin(), peers.limits_w.end(),
                                  [](double limit_w) { return limit_w > 0; });
  if (told == 0) return true;
  if (told != std::ssize(peers.limits_w)) return false;
  for (std::size_t i = 0; i < peers.ids.size(); ++i) peers.watts[i] /= peers.limits_w[i];
  return true;
}

void compare_power(TriageState& s, const Peers& peers) {
  if (peers.ids.size() < kPeersMin) return;
  std::vector<double> sorted = peers.watts;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  const double median = sorted[n / 2];
  const auto low = static_cast<std::size_t>(
      std::lower_bound(sorted.begin(), sorted.end(), kStragglerRatio * median) - sorted.begin());
  // Where many are low, or the rest is spread out, the ranks do different work: no judgement.
  if (low > std::max<std::size_t>(1, n / 10)) return;
  if (sorted[n - 1 - n / 20] - sorted[low] > kPeerSpread * median) return;
  std::vector<double> utils = peers.utils;
  const double usual_percent = median_of(utils);
  for (std::size_t i = 0; i < n; ++i) {
    SeriesState& series = s.series[peers.ids[i]];
    const double ratio = peers.watts[i] / median;
    series.low_power.add(ratio < kStragglerRatio);
    series.odd_util.add(std::abs(peers.utils[i] - usual_percent) > kOddUtilPoints);
    if (ratio < kStragglerRatio) series.low_power_ratio = ratio;
  }
}

void compare_clocks(TriageState& s, const Peers& peers) {
  std::vector<double> clocks;
  for (const double clock : peers.clocks) {
    if (clock > 0) clocks.push_back(clock);
  }
  const double median = clocks.size() >= kPeersMin ? median_of(clocks) : 0;
  for (std::size_t i = 0; i < peers.ids.size(); ++i) {
    SeriesState& series = s.series[peers.ids[i]];
    const bool low = median > 0 && peers.clocks[i] > 0 && peers.clocks[i] < kLowClockRatio * median;
    if (median > 0 && peers.clocks[i] > 0) {
      series.low_clock.add(low);
      series.high_clock.add(peers.clocks[i] > kHighClockRatio * median);
    }
    const Reading mask = series.get(Metric::throttle_mask);
    if (!mask.has_value()) continue;
    const std::uint64_t bits = throttle_bits(mask);
    const bool judged = (bits & kIdleBit) == 0;
    if (!judged) continue;
    series.hw_throttle.add((bits & kHardwareBits) != 0);
    series.sw_thermal.add((bits & kSwThermalBit) != 0);
    series.power_cap.add((bits & kPowerCapBit) != 0);
    if (median > 0)
      series.clock_held_down.add((bits & (kHardwareBits | kSwThermalBit)) != 0 && low);
  }
}

void compare_links(SeriesState& series) {
  const Reading gen = series.get(Metric::pcie_gen), gen_max = series.get(Metric::pcie_gen_max);
  const Reading width = series.get(Metric::pcie_width);
  const Reading width_max = series.get(Metric::pcie_width_max);
  if (gen.has_value() && gen_max.has_value())
    series.pcie_gen_low.add(gen.value() < gen_max.value());
  if (width.has_value() && width_max.has_value()) {
    series.pcie_width_low.add(width.value() < width_max.value());
  }
}

void compare_peers(TriageState& s) {
  std::map<std::string_view, Peers> by_model;
  for (const TickInput& in : s.inputs) {
    const SeriesIdentity& who = s.fleet.identity(in.id);
    if (!s.series[in.id].spoke || who.kind != SeriesKind::gpu || !in.util_percent ||
        *in.util_percent < kBusyPercent)
      continue;
    if (in.levels_proven && in.level <= PowerLevel::floor && in.level != PowerLevel::none) continue;
    SeriesState& series = s.series[in.id];
    compare_links(series);
    const Reading power = series.power();
    if (!power.has_value()) continue;
    Peers& peers = by_model[who.name];
    peers.ids.push_back(in.id);
    peers.watts.push_back(power.value());
    peers.utils.push_back(*in.util_percent);
    peers.limits_w.push_back(series.limit.value_w.value_or(0));
    peers.clocks.push_back(series.get(Metric::sm_clock_mhz).value_or(0));
  }
  for (auto& [model, peers] : by_model) {
    if (relate_to_limits(peers)) compare_power(s, peers);
    compare_clocks(s, peers);
  }
}

// A middle band that swings between the floor and full power is stop-and-go, not communication: the
// 1-s mean of the sensor hides it from a single tick.
void settle_middle(TriageState& s) {
  if (s.tick.phase == Phase::unknown) return;
  const std::uint8_t level = s.tick.at_floor ? 0 : s.tick.phase == Phase::compute ? 2 : 1;
  s.recent_levels.push_back(level);
  if (s.recent_levels.size() > kRecentTicks) s.recent_levels.pop_front();
  if (s.tick.phase != Phase::communication || s.recent_levels.size() < kRecentTicks) return;
  const auto low = std::count(s.recent_levels.begin(), s.recent_levels.end(), 0);
  const auto high = std::count(s.recent_levels.begin(), s.recent_levels.end(), 2);
  if (low * 5 >= std::ssize(s.recent_levels) && high * 5 >= std::ssize(s.recent_levels)) {
    s.tick.phase = Phase::starved;
  }
}

// A run that was killed and started again rests between, and loads. What was called a hang and then
// worked on, with no rest that samples far apart could hide, was none.
WaitTracker::Trust trust_in_end(const TriageState& s) {
  const auto& wait = s.waits.open();
  if (!wait) return WaitTracker::Trust::yes;
  if (is_starting(s, *wait)) return WaitTracker::Trust::no;
  if (!is_hang(s, *wait)) return WaitTracker::Trust::yes;
  const bool seen = wait->unseen == Duration{} &&
                    std::max(wait->longest_gap, s.tick_at - wait->last) <= kSparseGap;
  return seen ? WaitTracker::Trust::after_work : WaitTracker::Trust::no;
}

std::optional<double> median_power(const TriageState& s) {
  std::vector<double> watts;
  watts.reserve(s.inputs.size());
  for (const TickInput& in : s.inputs) {
    const Reading power = s.series[in.id].power();
    if (power.has_value()) watts.push_back(power.value());
  }
  if (watts.empty()) return std::nullopt;
  return median_of(watts);
}

// What work and what the open wait draw, in the middle of the ranks.
void note_power(TriageState& s) {
  const bool waits = s.tick.at_floor && s.waits.open();
  if (!s.tick.busy && !waits) return;
  const auto median = median_power(s);
  if (!median) return;
  if (waits && s.waits.open()->ticks == 1) s.wait_w = {};
  (waits ? s.wait_w : s.work_w).add(*median);
}

void add_to_segment(const TriageState& s, OpenSegment& open) {
  open.segment.to = s.tick_at;
  ++open.ticks;
  if (s.tick.odd) {
    open.odd_steady = open.odd_steady && (!open.odd || open.odd == s.tick.odd);
    open.odd = s.tick.odd;
  }
  if (s.tick.shape != Shape::none) open.segment.shape = s.tick.shape;
  std::vector<double> utils;
  for (const TickInput& in : s.inputs) {
    if (in.util_percent) utils.push_back(*in.util_percent);
  }
  if (const auto watts = median_power(s)) open.power_w.add(*watts);
  if (!utils.empty()) open.util_percent.add(median_of(utils));
}

OpenSegment new_segment(const TriageState& s) {
  OpenSegment open;
  open.segment.phase = s.tick.phase;
  open.segment.from = s.tick_at;
  add_to_segment(s, open);
  return open;
}

void finish_segment(TriageState& s, OpenSegment& open) {
  PhaseSegment& done = open.segment;
  if (const auto w = open.power_w.quantile()) done.power_w_median = Reading::of(*w);
  if (const auto u = open.util_percent.quantile()) done.util_percent_median = Reading::of(*u);
  if (open.odd) done.odd = s.label(*open.odd);
  s.closed_segments.push_back(done);
  if (s.closed_segments.size() > kSegmentsKept) s.closed_segments.pop_front();
}

// One sample during a transition can land in any band (the sensor is a 1-s mean): another phase
// counts from its second tick 1.5 s later on, or at once where samples are far apart.
void grow_segments(TriageState& s) {
  if (!s.segment) {
    s.segment = new_segment(s);
    return;
  }
  if (s.tick.phase == s.segment->segment.phase) {
    s.candidate.reset();
    add_to_segment(s, *s.segment);
    return;
  }
  const bool sparse = s.tick_at - s.segment->segment.to >= std::chrono::seconds(5);
  if (s.candidate && s.candidate->segment.phase == s.tick.phase) {
    add_to_segment(s, *s.candidate);
  } else {
    s.candidate = new_segment(s);
  }
  const bool lasted = s.tick_at - s.candidate->segment.from >= std::chrono::milliseconds(1500);
  if (!sparse && !lasted) return;
  s.segment->segment.to = s.candidate->segment.from;
  finish_segment(s, *s.segment);
  s.segment = std::move(s.candidate);
  s.candidate.reset();
}

void fill_histograms(TriageState& s) {
  for (const TickInput& in : s.inputs) {
    const SeriesState& series = s.series[in.id];
    const Reading power = series.power();
    if (!series.spoke || !power.has_value()) continue;
    const SeriesIdentity& who = s.fleet.identity(in.id);
    if (s.histograms.size() >= kModelsLearned) return;
    PowerHistogram& h = s.histograms[who.kind == SeriesKind::node ? "node" : who.name];
    const bool zero = in.util_percent && *in.util_percent <= kZeroPercent;
    h.add(zero ? h.zero : h.work, power.value());
    if (const Reading limit = series.get(Metric::power_limit_w); limit.has_value()) {
      h.limit_w = limit.value();
    }
  }
}

}  // namespace

std::uint64_t throttle_bits(Reading mask) {
  const double value = mask.value_or(0);
  return value >= 0 && value < 9e18 ? static_cast<std::uint64_t>(value) : 0;
}

void PowerHistogram::add(std::vector<std::uint32_t>& bins, double watts) {
  if (bins.empty()) bins.resize(kBins);
  const auto bin = static_cast<std::size_t>(std::clamp(watts / kBinW, 0.0, kBins - 1.0));
  ++bins[bin];
}

bool TriageState::in_run(SeriesId id) const {
  return fleet.identity(id).kind != SeriesKind::port && !series[id].out_of_run;
}

bool TriageState::fresh(SeriesId id) const {
  const SeriesState& s = series[id];
  if (s.rows == 0) return false;
  const double patience_s = std::max(10.0, 5 * s.period_s.value_or(2));
  return tick_at - s.at - s.behind <= seconds_to_duration(patience_s);
}

std::string TriageState::label(SeriesId id) const {
  const SeriesIdentity& who = fleet.identity(id);
  const Culprit c = fleet.culprit(id);
  if (who.rank && c.kind == CulpritKind::gpu) return fmt::format("rank {} ({})", *who.rank, c.id);
  if (who.rank) return fmt::format("rank {}", *who.rank);
  return c.id;
}

Culprit TriageState::blame(SeriesId id) const {
  const SeriesIdentity& who = fleet.identity(id);
  if (who.rank) return {CulpritKind::rank, std::to_string(*who.rank)};
  return fleet.culprit(id);
}

void close_tick(TriageState& s) {
  update_reference(s);
  gather_inputs(s);
  leave_out_bystanders(s);
  leave_out_hosts_that_left(s);
  s.tick = judge_tick(s.inputs);
  settle_middle(s);
  mark_activity(s);
  compare_peers(s);
  if (s.options.learn) fill_histograms(s);
  s.waits.observe(s.tick, s.tick_at, trust_in_end(s));
  if (s.options.learn) remember_hang(s);
  note_power(s);
  grow_segments(s);
  ++s.phase_ticks[static_cast<std::size_t>(s.tick.phase)];
  ++s.ticks;
  for (SeriesState& series : s.series) series.spoke = false;
  s.tick_open = false;
}

}  // namespace muster
