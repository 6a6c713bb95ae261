#include "core/flight/odd_call.h"

#include <algorithm>

#include "core/flight/frames.h"

namespace muster {
namespace {

using Ranks = std::vector<std::int32_t>;

// One call too many: after it the rank makes the call that the others make now.
bool others_call_comes_next(const WaitNode& node, const FlightRank& rank) {
  const FlightLane* lane = rank.lane(node.group);
  const auto entry = rank.find(node.group, node.seq);
  if (lane == nullptr || !entry) return false;
  const auto next = std::upper_bound(lane->collectives.begin(), lane->collectives.end(), *entry);
  if (next == lane->collectives.end()) return false;
  const std::uint64_t own = rank.key(*entry), then = rank.key(*next);
  return own != then && std::any_of(node.parties.begin(), node.parties.end(),
                                    [&](const CallParty& party) { return party.key == then; });
}

// Without frames a call that differs from all others in size or type only is no call of its own.
bool is_of_its_own(const FlightFleet& fleet, const WaitNode& node, const CallParty& party,
                   std::size_t member) {
  const FlightRank& rank = *fleet.find(party.ranks[member]);
  if (!rank.stack(party.entry[member]).empty()) return true;
  return std::all_of(node.parties.begin(), node.parties.end(), [&](const CallParty& other) {
    const FlightRank& there = *fleet.find(other.ranks.front());
    return other.key == party.key ||
           call_difference(rank.signature(party.entry[member]),
                           there.signature(other.entry.front())) == "operation";
  });
}

}  // namespace

FlightVerdictKind kind_of_odd(const FlightEvidence& evidence, const WaitNode& node,
                              const Ranks& ranks) {
  bool odd_outside = false, others_outside = false, extra = false;
  for (const CallParty& party : node.parties) {
    for (std::size_t i = 0; i < party.ranks.size(); ++i) {
      const FlightRank& rank = *evidence.fleet().find(party.ranks[i]);
      const bool outside = outside_the_step(rank.dump(), rank.stack(party.entry[i]));
      const bool odd = std::binary_search(ranks.begin(), ranks.end(), party.ranks[i]);
      (odd ? odd_outside : others_outside) |= outside;
      extra = extra || (odd && (node.parties.size() == 1 || others_call_comes_next(node, rank)) &&
                        !evidence.history().seen_elsewhere(rank, party.entry[i], ranks) &&
                        is_of_its_own(evidence.fleet(), node, party, i));
    }
  }
  if (odd_outside && !others_outside) return FlightVerdictKind::ahead_left_loop;
  return extra ? FlightVerdictKind::extra_op : FlightVerdictKind::mismatch;
}

}  // namespace muster
