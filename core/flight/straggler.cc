#include "core/flight/straggler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/median.h"

namespace muster {
namespace {

// Collectives that must be seen, and the share of them in which one rank is last.
constexpr std::size_t kLeastCalls = 20;
constexpr double kLastShare = 0.5;
// A lag below this, or below this share of the time between two calls, is noise.
constexpr double kLeastLagMs = 1;
constexpr double kLeastLagShare = 0.05;
// The watchdogs look every 100 ms: offsets of clocks are known to twice that.
constexpr double kClockNoiseMs = 200;

struct Arrival {
  std::int32_t last = -1;
  std::uint32_t members = 0;
  double late = 0, early = 0;  // of the last and of the first to come, ms; later is greater
};

struct Tally {
  std::size_t calls = 0;
  std::map<std::int32_t, std::vector<double>> lags_ms;  // of the rank that came last
};

// What the clock of each rank adds: a collective ends for all members at once, so the times at
// which their watchdogs saw the ends differ by the clocks, and by a tick.
std::unordered_map<std::int32_t, double> clock_offsets_ms(const FlightFleet& fleet,
                                                          std::uint32_t id) {
  const FleetGroup& group = fleet.groups()[id];
  std::unordered_map<std::int64_t, std::int64_t> reference;
  std::unordered_map<std::int32_t, double> offsets;
  for (const std::int32_t member : group.ranks) {
    const FlightRank* rank = fleet.find(member);
    const FlightLane* lane = rank == nullptr ? nullptr : rank->lane(id);
    if (lane == nullptr) continue;
    std::vector<double> apart;
    for (const std::uint32_t index : lane->collectives) {
      const FlightEntry& entry = rank->entry(index);
      if (entry.completed_seen_ns == FlightEntry::kAbsent) continue;
      const auto [seen, first] = reference.try_emplace(entry.seq, entry.completed_seen_ns);
      apart.push_back(static_cast<double>(entry.completed_seen_ns - seen->second) / 1e6);
    }
    if (!apart.empty()) offsets[member] = median_of(apart);
  }
  return offsets;
}

// How late a rank came, on a scale where later is greater; nothing if not told. `offset_ms`:
// nothing to go by durations.
std::optional<double> lateness(const FlightRank& rank, std::uint32_t index,
                               std::optional<double> offset_ms) {
  const FlightEntry& entry = rank.entry(index);
  if (!offset_ms) {
    if (entry.duration_ms < 0 || !std::isfinite(entry.duration_ms)) return {};
    return -static_cast<double>(entry.duration_ms);
  }
  if (entry.created_ns == FlightEntry::kAbsent) return {};
  return static_cast<double>(entry.created_ns) / 1e6 - *offset_ms;
}

Tally tally(const FlightFleet& fleet, std::uint32_t id, bool by_duration) {
  std::unordered_map<std::int64_t, Arrival> arrivals;
  const FleetGroup& group = fleet.groups()[id];
  const auto offsets = clock_offsets_ms(fleet, id);
  for (const std::int32_t member : group.ranks) {
    const FlightRank* rank = fleet.find(member);
    const FlightLane* lane = rank == nullptr ? nullptr : rank->lane(id);
    if (lane == nullptr || (!by_duration && !offsets.contains(member))) return {};
    std::optional<double> offset_ms;
    if (!by_duration) offset_ms = offsets.at(member);
    for (const std::uint32_t index : lane->collectives) {
      if (rank->status(index) != FlightStatus::done) continue;
      if (!is_synchronising(rank->call(index).family)) continue;
      const auto late = lateness(*rank, index, offset_ms);
      if (!late) continue;
      Arrival& a = arrivals[rank->entry(index).seq];
      if (a.members == 0 || *late < a.early) a.early = *late;
      if (a.members == 0 || *late > a.late) {
        a.late = *late;
        a.last = member;
      }
      ++a.members;
    }
  }
  Tally result;
  for (const auto& [seq, a] : arrivals) {
    if (a.members != group.ranks.size()) continue;
    ++result.calls;
    result.lags_ms[a.last].push_back(a.late - a.early);
  }
  return result;
}

// Time between two calls of the rank, ms.
double pace_ms(const FlightRank& rank, const FlightLane& lane) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < lane.collectives.size(); ++i) {
    const std::int64_t a = rank.entry(lane.collectives[i - 1]).created_ns;
    const std::int64_t b = rank.entry(lane.collectives[i]).created_ns;
    if (a == FlightEntry::kAbsent || b == FlightEntry::kAbsent) continue;
    gaps.push_back(static_cast<double>(b - a) / 1e6);
  }
  return gaps.empty() ? 0 : median_of(gaps);
}

// How one rank stands in all groups of which enough was seen.
struct Standing {
  double least_share = 1;  // of calls to which it came last, in the group where that is smallest
  double lag_ms = 0;       // median when last, in the group where that is largest
  std::size_t last = 0, calls = 0;
  std::uint32_t group = 0;
  bool seen_whole = true;  // enough was seen of every group in which it calls anything
};

std::map<std::int32_t, Standing> standings(const FlightFleet& fleet, bool by_duration) {
  std::map<std::int32_t, Standing> all;
  for (std::uint32_t id = 0; id < fleet.groups().size(); ++id) {
    const FleetGroup& group = fleet.groups()[id];
    if (!group.members_told || group.ranks.size() < 2) continue;
    Tally t = tally(fleet, id, by_duration);
    for (const std::int32_t rank : group.ranks) {
      const FlightRank* own_rank = fleet.find(rank);
      const FlightLane* lane = own_rank == nullptr ? nullptr : own_rank->lane(id);
      if (t.calls < kLeastCalls && lane != nullptr && !lane->collectives.empty()) {
        all[rank].seen_whole = false;
      }
      if (t.calls < kLeastCalls) continue;
      Standing& s = all[rank];
      const auto lags = t.lags_ms.find(rank);
      const std::size_t last = lags == t.lags_ms.end() ? 0 : lags->second.size();
      s.least_share =
          std::min(s.least_share, static_cast<double>(last) / static_cast<double>(t.calls));
      const double lag = last == 0 ? 0 : median_of(lags->second);
      const double floor = std::max(by_duration ? kLeastLagMs : kClockNoiseMs,
                                    kLeastLagShare * pace_ms(*own_rank, *lane));
      if (lag < floor || lag < s.lag_ms) continue;
      s.lag_ms = lag;
      s.last = last;
      s.calls = t.calls;
      s.group = id;
    }
  }
  return all;
}

}  // namespace

std::optional<FlightVerdict> find_straggler(const FlightFleet& fleet) {
  for (const bool by_duration : {true, false}) {
    const auto all = standings(fleet, by_duration);
    const bool judged =
        std::any_of(all.begin(), all.end(), [](const auto& row) { return row.second.calls > 0; });
    if (!judged) continue;
    // Who is late in one group only is held up by the latecomer of another.
    const std::pair<const std::int32_t, Standing>* worst = nullptr;
    for (const auto& row : all) {
      if (row.second.least_share <= kLastShare || row.second.lag_ms == 0) continue;
      if (worst == nullptr || row.second.lag_ms > worst->second.lag_ms) worst = &row;
    }
    if (worst == nullptr) return {};
    const Standing& s = worst->second;
    const FleetGroup& group = fleet.groups()[s.group];
    FlightVerdict verdict;
    verdict.kind = FlightVerdictKind::straggler;
    verdict.confidence = by_duration && s.seen_whole ? Confidence::medium : Confidence::low;
    verdict.culprits = {worst->first};
    verdict.group = group.title();
    verdict.group_size = group.ranks.size();
    verdict.summary =
        fmt::format("rank {} comes last to {} of {} collectives of {}, {:.1f} ms late",
                    worst->first, s.last, s.calls, group.title(), s.lag_ms);
    verdict.why = by_duration ? "it spends the least time inside, so the others wait for it"
                              : "by times of issue, to the 200 ms that the clocks are known; "
                                "TORCH_NCCL_ENABLE_TIMING=1 would tell";
    return verdict;
  }
  return {};
}

}  // namespace muster
