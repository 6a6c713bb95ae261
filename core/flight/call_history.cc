#include "core/flight/call_history.h"

#include <algorithm>

#include "base/hash_mix.h"
#include "core/flight/frames.h"

namespace muster {
namespace {

// Turns of the end of a ring that are looked at: a few steps of a deep model's outer structure.
constexpr std::size_t kLastTurns = 64;
// Ranks remembered for each call: more than ever step out of line together.
constexpr std::size_t kUsersKept = 16;

// "tp0" and "tp7" of the same size do the same.
std::uint64_t class_of(const FleetGroup& group) {
  std::uint64_t hash = group.ranks.size();
  for (const char c : group.title()) {
    if (c < '0' || c > '9') hash = mix(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

}  // namespace

CallHistory::CallHistory(const FlightFleet& fleet) {
  for (const FleetGroup& group : fleet.groups()) group_class_.push_back(class_of(group));
  for (const FlightRank& rank : fleet.ranks()) count_runs(fleet, rank);
}

std::uint64_t CallHistory::token(const FlightRank& rank, std::uint32_t index) const {
  const FlightEntry& entry = rank.entry(index);
  const Call& call = rank.call(index);
  std::uint64_t hash = mix(static_cast<std::uint64_t>(call.family), 0);
  if (call.from && call.to) {
    const bool up = *call.from < *call.to;
    hash = mix(hash, up ? 1 : 2);
  }
  const std::uint64_t site = call_site(rank.dump(), rank.stack(index));
  // Without frames the shape of the call stands for its place.
  hash = mix(hash, site != 0 ? site : rank.own_key(index));
  return mix(hash, group_class_[rank.group_of(entry)]);
}

void CallHistory::count_runs(const FlightFleet& fleet, const FlightRank& rank) {
  std::vector<Run> runs;
  for (std::size_t i = rank.first_entry(); i < rank.dump().entries.size(); ++i) {
    // Calls of a rank with itself are its own affair.
    const FlightEntry& entry = rank.dump().entries[i];
    if (fleet.groups()[rank.group_of(entry)].ranks.size() < 2) continue;
    const std::uint64_t now = token(rank, static_cast<std::uint32_t>(i));
    ++keys_[rank.key(static_cast<std::uint32_t>(i))];
    Users& users = users_[now];
    if (users.count == 0 || users.last != rank.rank()) {
      ++users.count;
      users.last = rank.rank();
      if (users.first.size() < kUsersKept) users.first.push_back(rank.rank());
    }
    if (runs.empty() || runs.back().token != now) runs.push_back({now, 0});
    ++runs.back().length;
  }
  std::vector<std::uint64_t> turns;
  // The first run may have lost its beginning, the last one has not ended.
  for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
    turns.push_back(mix(mix(1, runs[i].token), runs[i + 1].token));
    if (i > 0) turns.push_back(mix(mix(2, runs[i].token), runs[i].length));
  }
  for (const std::uint64_t turn : turns) ++turns_[turn];
  const std::size_t from = turns.size() - std::min(turns.size(), kLastTurns);
  last_turns_[rank.rank()].assign(turns.begin() + static_cast<std::ptrdiff_t>(from), turns.end());
}

std::size_t CallHistory::novelty(std::int32_t rank) const {
  const auto at = last_turns_.find(rank);
  if (at == last_turns_.end()) return 0;
  return static_cast<std::size_t>(
      std::count_if(at->second.begin(), at->second.end(),
                    [&](std::uint64_t turn) { return turns_.at(turn) == 1; }));
}

std::size_t CallHistory::times(std::uint64_t key) const {
  const auto at = keys_.find(key);
  return at == keys_.end() ? 0 : at->second;
}

bool CallHistory::seen_elsewhere(const FlightRank& rank, std::uint32_t entry,
                                 const std::vector<std::int32_t>& except) const {
  const auto at = users_.find(token(rank, entry));
  if (at == users_.end()) return false;
  const Users& users = at->second;
  return users.count > except.size() ||
         std::any_of(users.first.begin(), users.first.end(), [&](std::int32_t user) {
           return !std::binary_search(except.begin(), except.end(), user);
         });
}

}  // namespace muster
