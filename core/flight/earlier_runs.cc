#include "core/flight/earlier_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace muster {
namespace {

constexpr std::size_t kPlacesNamed = 4;

std::string place_of(const FlightDump& dump) {
  const std::size_t end = dump.source.find_last_of("/:");
  return end == std::string::npos ? dump.source : dump.source.substr(0, end);
}

}  // namespace

std::int64_t newest_stamp(const FlightDump& dump) {
  std::int64_t newest = FlightEntry::kAbsent;
  for (const FlightEntry& entry : dump.entries) {
    newest = std::max({newest, entry.created_ns, entry.completed_seen_ns});
  }
  return newest;
}

EarlierRuns::EarlierRuns(std::span<const FlightDump> dumps) {
  std::vector<std::pair<std::int64_t, const FlightDump*>> by_time;  // newest first
  for (const FlightDump& dump : dumps) {
    const std::int64_t stamp = newest_stamp(dump);
    if (dump.rank && stamp != FlightEntry::kAbsent) by_time.emplace_back(stamp, &dump);
  }
  std::sort(by_time.rbegin(), by_time.rend());
  std::set<std::int32_t> seen;
  std::int64_t last = FlightEntry::kAbsent, gap_at = FlightEntry::kAbsent;
  for (const auto& [stamp, dump] : by_time) {
    const bool apart =
        last != FlightEntry::kAbsent && last / 2 - stamp / 2 > limits::kFlightApartNs / 2;
    if (apart && gap_at == FlightEntry::kAbsent) gap_at = last;
    if (gap_at != FlightEntry::kAbsent && seen.contains(*dump->rank)) from_ = gap_at;
    if (from_ != FlightEntry::kAbsent) break;
    seen.insert(*dump->rank);
    last = stamp;
  }
  for (const FlightDump& dump : dumps) {
    if (!holds(dump)) continue;
    ++dumps_;
    places_.insert(place_of(dump));
  }
}

bool EarlierRuns::holds(const FlightDump& dump) const {
  if (from_ == FlightEntry::kAbsent) return false;
  const std::int64_t stamp = newest_stamp(dump);
  return stamp != FlightEntry::kAbsent && stamp < from_;
}

std::string EarlierRuns::note() const {
  if (dumps_ == 0) return "";
  std::string names;
  std::size_t named = 0;
  for (const std::string& place : places_) {
    if (named++ == kPlacesNamed) break;
    names += (names.empty() ? "" : ", ") + place.substr(0, 200);
  }
  if (places_.size() > kPlacesNamed) {
    names += fmt::format(" and {} more", places_.size() - kPlacesNamed);
  }
  return fmt::format(
      "dumps of several runs: the newest is judged, {} of earlier ones are left out "
      "({})",
      dumps_, names);
}

}  // namespace muster
