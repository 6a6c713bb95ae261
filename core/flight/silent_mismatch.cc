#include "core/flight/silent_mismatch.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/flight/call_history.h"
#include "core/flight/shifted_numbers.h"
#include "core/flight/verdict_text.h"

namespace muster {
namespace {

struct Heard {
  std::uint64_t key = 0;
  std::uint32_t members = 0;
  bool differs = false, all_done = true;
};

// First number of the group that all members hold and finished, and that they called differently.
std::optional<std::int64_t> first_difference(const FlightFleet& fleet, std::uint32_t id) {
  std::unordered_map<std::int64_t, Heard> heard;
  const FleetGroup& group = fleet.groups()[id];
  for (const std::int32_t member : group.ranks) {
    const FlightRank* rank = fleet.find(member);
    const FlightLane* lane = rank == nullptr ? nullptr : rank->lane(id);
    if (lane == nullptr) return {};
    for (const std::uint32_t entry : lane->collectives) {
      Heard& h = heard[rank->entry(entry).seq];
      const std::uint64_t key = rank->key(entry);
      if (h.members++ == 0) h.key = key;
      h.differs = h.differs || h.key != key;
      h.all_done = h.all_done && rank->status(entry) == FlightStatus::done;
    }
  }
  std::optional<std::int64_t> first;
  for (const auto& [seq, h] : heard) {
    if (h.members != group.ranks.size() || !h.differs || !h.all_done) continue;
    first = first ? std::min(*first, seq) : seq;
  }
  return first;
}

}  // namespace

std::optional<FlightVerdict> find_silent_mismatch(const FlightFleet& fleet) {
  using Parties = std::map<std::uint64_t, std::vector<std::int32_t>>;
  const auto other_key = [](const Parties& parties, std::uint64_t key) {
    return parties.begin()->first == key ? parties.rbegin()->first : parties.begin()->first;
  };
  for (std::uint32_t id = 0; id < fleet.groups().size(); ++id) {
    // Members who are only inferred may not be all; whoever completed with each other is enough.
    // The oldest format's numbers of groups are each rank's own.
    const FleetGroup& told = fleet.groups()[id];
    const bool inferred = !told.members_told;
    if (inferred && (!fleet.missing().empty() || told.description.empty())) continue;
    const auto seq = first_difference(fleet, id);
    if (!seq || numbers_are_shifted(fleet, id)) continue;
    const CallHistory history(fleet);
    Parties parties;
    for (const std::int32_t member : fleet.groups()[id].ranks) {
      const FlightRank* rank = fleet.find(member);
      parties[rank->key(*rank->find(id, *seq))].push_back(member);
    }
    FlightVerdict verdict;
    verdict.kind = FlightVerdictKind::silent_mismatch;
    verdict.confidence = Confidence::medium;
    verdict.group = fleet.groups()[id].title();
    verdict.group_size = fleet.groups()[id].ranks.size();
    verdict.seq = *seq;
    const bool majority = std::any_of(parties.begin(), parties.end(), [&](const auto& party) {
      return party.second.size() * 2 > verdict.group_size;
    });
    for (const auto& [key, ranks] : parties) {
      verdict.sides.push_back(side_at(fleet, ranks, id, *seq, "completed"));
      // Of two, the one whose call was never made anywhere else.
      const bool odd = (majority && ranks.size() * 2 < verdict.group_size) ||
                       (parties.size() == 2 && verdict.group_size == 2 && history.times(key) == 1 &&
                        history.times(other_key(parties, key)) > 2);
      if (odd) verdict.culprits.insert(verdict.culprits.end(), ranks.begin(), ranks.end());
    }
    std::sort(verdict.culprits.begin(), verdict.culprits.end());
    std::stable_sort(
        verdict.sides.begin(), verdict.sides.end(),
        [](const FlightSide& a, const FlightSide& b) { return a.ranks.size() < b.ranks.size(); });
    verdict.summary =
        fmt::format("different calls completed with each other in {} at {}", verdict.group, *seq);
    verdict.why = "NCCL does not compare what its members call: results since then are suspect";
    return verdict;
  }
  return {};
}

}  // namespace muster
