#include "core/flight/earlier_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
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

constexpr std::int64_t kSameNs = 1'000'000;  // what one form of a dump may round

bool same_moment(std::int64_t a_ns, std::int64_t b_ns) {
  if (a_ns == FlightEntry::kAbsent || b_ns == FlightEntry::kAbsent) return true;
  std::int64_t apart = 0;
  return !__builtin_sub_overflow(a_ns, b_ns, &apart) && apart >= -kSameNs && apart <= kSameNs;
}

// Whether `newer` is of another process than `older`: a record of one number was issued at another
// time, or the numbers began again. Without numbers nobody can tell.
bool another_process(const FlightDump& older, const FlightDump& newer) {
  if (older.entries.empty() || newer.entries.empty()) return false;
  const std::int64_t first = newer.entries.front().record_id, last = newer.entries.back().record_id;
  const std::int64_t old_last = older.entries.back().record_id;
  if (first == FlightEntry::kAbsent || old_last == FlightEntry::kAbsent) return false;
  if (last < old_last) return true;
  const auto at = std::find_if(older.entries.begin(), older.entries.end(),
                               [&](const FlightEntry& e) { return e.record_id == first; });
  return at != older.entries.end() &&
         !same_moment(at->created_ns, newer.entries.front().created_ns);
}

}  // namespace

bool same_ring(const FlightDump& a, const FlightDump& b) {
  if (a.entries.empty() || b.entries.empty()) return false;
  const FlightEntry &last = a.entries.back(), &other = b.entries.back();
  return last.record_id == other.record_id && last.seq == other.seq && last.state == other.state &&
         last.retired == other.retired && same_moment(last.created_ns, other.created_ns);
}

std::int64_t newest_stamp(const FlightDump& dump) {
  std::int64_t newest = FlightEntry::kAbsent;
  for (const FlightEntry& entry : dump.entries) {
    newest = std::max({newest, entry.created_ns, entry.completed_seen_ns});
  }
  return newest;
}

EarlierRuns::EarlierRuns(std::span<const FlightDump> dumps) {
  find_gap(dumps);
  find_newer_processes(dumps);
  for (const FlightDump& dump : dumps) {
    if (!holds(dump)) continue;
    ++dumps_;
    places_.insert(place_of(dump));
  }
}

void EarlierRuns::find_newer_processes(std::span<const FlightDump> dumps) {
  std::map<std::int32_t, const FlightDump*> newest;  // by rank
  for (const FlightDump& dump : dumps) {
    if (!dump.rank || newest_stamp(dump) == FlightEntry::kAbsent) continue;
    const FlightDump*& place = newest[*dump.rank];
    if (place == nullptr || newest_stamp(dump) > newest_stamp(*place)) place = &dump;
  }
  for (const FlightDump& dump : dumps) {
    const std::int64_t stamp = newest_stamp(dump);
    if (!dump.rank || stamp == FlightEntry::kAbsent || stamp < from_) continue;
    const FlightDump* other = newest.at(*dump.rank);
    if (other != &dump && another_process(dump, *other)) from_ = stamp + 1;
  }
}

void EarlierRuns::find_gap(std::span<const FlightDump> dumps) {
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
