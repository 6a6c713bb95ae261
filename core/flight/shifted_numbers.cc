#include "core/flight/shifted_numbers.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace muster {
namespace {

using Keys = std::unordered_set<std::uint64_t>;

// The call of one number, by the vote of the members that finished it.
struct Vote {
  std::uint64_t key = 0;
  std::size_t lead = 0;

  void cast(std::uint64_t of) {
    if (lead == 0) key = of;
    lead = key == of ? lead + 1 : lead - 1;
  }
};
using Norm = std::unordered_map<std::int64_t, Vote>;

template <typename See>
void each_finished(const FlightRank& rank, const FlightLane& lane, See see) {
  for (const std::uint32_t index : lane.collectives) {
    if (rank.status(index) == FlightStatus::done) see(rank.entry(index).seq, rank.key(index));
  }
}

// Two sides that make the same calls, at different numbers.
bool turned(const FlightRank& rank, const FlightLane& lane, const Norm& norm, const Keys& usual) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> apart;  // own, that of the others
  each_finished(rank, lane, [&](std::int64_t seq, std::uint64_t key) {
    const std::uint64_t theirs = norm.at(seq).key;
    if (theirs != key) apart.emplace_back(key, theirs);
  });
  if (apart.empty()) return false;
  Keys own;
  each_finished(rank, lane, [&](std::int64_t, std::uint64_t key) { own.insert(key); });
  for (const auto& [key, theirs] : apart) {
    if (usual.contains(key) && own.contains(theirs)) return true;
  }
  return false;
}

// The first number of a ring that has kept everything.
std::optional<std::int64_t> first_number(const FlightRank& rank, const FlightLane& lane) {
  const auto& entries = rank.dump().entries;
  const bool whole = !rank.wrapped() && !entries.empty() && entries.front().record_id == 0;
  if (!whole || lane.collectives.empty()) return {};
  return rank.entry(lane.collectives.front()).seq;
}

}  // namespace

bool numbers_are_shifted(const FlightFleet& fleet, std::uint32_t group) {
  std::vector<std::pair<const FlightRank*, const FlightLane*>> members;
  std::optional<std::int64_t> first;
  for (const std::int32_t member : fleet.groups()[group].ranks) {
    const FlightRank* rank = fleet.find(member);
    const FlightLane* lane = rank == nullptr ? nullptr : rank->lane(group);
    if (lane == nullptr) continue;
    members.emplace_back(rank, lane);
    const auto own = first_number(*rank, *lane);
    if (own && first && *own != *first) return true;
    if (own) first = own;
  }
  Norm norm;
  for (const auto& [rank, lane] : members) {
    each_finished(*rank, *lane, [&](std::int64_t seq, std::uint64_t key) { norm[seq].cast(key); });
  }
  Keys usual;
  for (const auto& [seq, vote] : norm) usual.insert(vote.key);
  for (const auto& [rank, lane] : members) {
    if (turned(*rank, *lane, norm, usual)) return true;
  }
  return false;
}

}  // namespace muster
