#include "core/flight/earlier_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/limits.h"
#include "core/flight/back_ends.h"

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

// First and last time of issue in its last life; nothing where none is told.
std::optional<std::pair<std::int64_t, std::int64_t>> issued_between(const FlightDump& dump) {
  std::optional<std::pair<std::int64_t, std::int64_t>> span;
  for (std::size_t i = last_life_of(dump); i < dump.entries.size(); ++i) {
    const std::int64_t at = dump.entries[i].created_ns;
    if (at == FlightEntry::kAbsent) continue;
    if (!span) span = std::pair(at, at);
    span = std::pair(std::min(span->first, at), std::max(span->second, at));
  }
  return span;
}

// A process may have a recorder, and with it a file, for each of its back ends.
std::pair<std::int32_t, std::string_view> recorder_of(const FlightDump& dump) {
  return {*dump.rank, main_back_end_of(dump)};
}

}  // namespace

std::size_t last_life_of(const FlightDump& dump) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < dump.entries.size(); ++i) {
    const std::int64_t before = dump.entries[i - 1].record_id;
    const std::int64_t now = dump.entries[i].record_id;
    if (now != FlightEntry::kAbsent && before != FlightEntry::kAbsent && now < before) first = i;
  }
  return first;
}

bool alive_at_once(const FlightDump& a, const FlightDump& b) {
  const auto of_a = issued_between(a), of_b = issued_between(b);
  if (!of_a || !of_b || of_a->first > of_b->second || of_b->first > of_a->second) return false;
  std::unordered_map<std::int64_t, const FlightEntry*> of_number;
  for (std::size_t i = last_life_of(a); i < a.entries.size(); ++i) {
    of_number.emplace(a.entries[i].record_id, &a.entries[i]);
  }
  if (of_number.contains(FlightEntry::kAbsent)) return false;
  bool shared = false;
  for (std::size_t i = last_life_of(b); i < b.entries.size(); ++i) {
    const FlightEntry& entry = b.entries[i];
    if (entry.record_id == FlightEntry::kAbsent) return false;
    const auto at = of_number.find(entry.record_id);
    if (at == of_number.end()) continue;
    const bool same =
        same_moment(at->second->created_ns, entry.created_ns) &&
        a.signatures[at->second->signature].name == b.signatures[entry.signature].name;
    if (!same) return true;
    shared = true;
  }
  return !shared;
}

const std::vector<std::int32_t>* world_of(const FlightDump& dump) {
  for (const FlightGroup& group : dump.groups) {
    if (group.description == "default_pg" && group.tells_members()) return &*group.ranks;
  }
  return nullptr;
}

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
  find_other_worlds(dumps);
  for (const FlightDump& dump : dumps) {
    if (!holds(dump)) continue;
    ++dumps_;
    places_.insert(place_of(dump));
  }
}

void EarlierRuns::find_newer_processes(std::span<const FlightDump> dumps) {
  std::map<std::pair<std::int32_t, std::string_view>, const FlightDump*> newest;
  for (const FlightDump& dump : dumps) {
    if (!dump.rank || newest_stamp(dump) == FlightEntry::kAbsent) continue;
    const FlightDump*& place = newest[recorder_of(dump)];
    if (place == nullptr || newest_stamp(dump) > newest_stamp(*place)) place = &dump;
  }
  std::int64_t from = from_;
  for (const FlightDump& dump : dumps) {
    const std::int64_t stamp = newest_stamp(dump);
    if (!dump.rank || stamp == FlightEntry::kAbsent || stamp < from_) continue;
    const FlightDump* other = newest.at(recorder_of(dump));
    if (other == &dump) continue;
    if (alive_at_once(dump, *other)) return;  // of two jobs: no time parts them
    if (another_process(dump, *other)) from = std::max(from, stamp + 1);
  }
  from_ = from;
}

void EarlierRuns::find_other_worlds(std::span<const FlightDump> dumps) {
  const FlightDump* newest = nullptr;
  for (const FlightDump& dump : dumps) {
    if (!dump.rank || world_of(dump) == nullptr) continue;
    if (newest == nullptr || newest_stamp(dump) > newest_stamp(*newest)) newest = &dump;
  }
  if (newest == nullptr) return;
  std::int64_t begin = INT64_MAX, end = FlightEntry::kAbsent;  // of its job; of the others
  for (const FlightDump& dump : dumps) {
    const auto span = issued_between(dump);
    if (!dump.rank || world_of(dump) == nullptr || !span) continue;
    if (*world_of(dump) == *world_of(*newest)) {
      begin = std::min(begin, span->first);
    } else {
      end = std::max(end, newest_stamp(dump));
    }
  }
  if (end != FlightEntry::kAbsent && end < begin) from_ = std::max(from_, end + 1);
}

void EarlierRuns::find_gap(std::span<const FlightDump> dumps) {
  std::vector<std::pair<std::int64_t, const FlightDump*>> by_time;  // newest first
  for (const FlightDump& dump : dumps) {
    const std::int64_t stamp = newest_stamp(dump);
    if (dump.rank && stamp != FlightEntry::kAbsent) by_time.emplace_back(stamp, &dump);
  }
  std::sort(by_time.rbegin(), by_time.rend());
  std::set<std::pair<std::int32_t, std::string_view>> seen;
  std::int64_t last = FlightEntry::kAbsent, gap_at = FlightEntry::kAbsent;
  for (const auto& [stamp, dump] : by_time) {
    const bool apart =
        last != FlightEntry::kAbsent && last / 2 - stamp / 2 > limits::kFlightApartNs / 2;
    if (apart && gap_at == FlightEntry::kAbsent) gap_at = last;
    if (gap_at != FlightEntry::kAbsent && seen.contains(recorder_of(*dump))) from_ = gap_at;
    if (from_ != FlightEntry::kAbsent) break;
    seen.insert(recorder_of(*dump));
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
