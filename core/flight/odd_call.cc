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

// A call of one rank: what, and from which line.
struct Step {
  std::uint64_t key = 0, site = 0;
  bool operator==(const Step&) const = default;
};

Step step_of(const FlightRank& rank, std::uint32_t entry) {
  return {rank.key(entry), call_site(rank.dump(), rank.stack(entry))};
}

// Whether the rank went from `first` right to `then` in this group, other than to entry `but`.
bool goes_from_to(const FlightRank& rank, std::uint32_t group, const Step& first, const Step& then,
                  std::optional<std::uint32_t> but) {
  const FlightLane* lane = rank.lane(group);
  for (std::size_t i = 1; lane != nullptr && i < lane->collectives.size(); ++i) {
    const std::uint32_t next = lane->collectives[i];
    if (next == but || step_of(rank, next) != then) continue;
    if (step_of(rank, lane->collectives[i - 1]) == first) return true;
  }
  return false;
}

// The odd rank makes a call that always came after the one in which the others wait, and never
// after the one that it made before: it left that one out, and is where it would be anyway.
bool left_one_out(const FlightEvidence& evidence, const WaitNode& node, const CallParty& odd,
                  const CallParty& others) {
  const FlightRank& own = *evidence.fleet().find(odd.ranks.front());
  const FlightRank& peer = *evidence.fleet().find(others.ranks.front());
  const auto& calls = own.lane(node.group)->collectives;
  const std::uint32_t entry = odd.entry.front();
  const auto at = std::lower_bound(calls.begin(), calls.end(), entry);
  if (at == calls.begin() || at == calls.end()) return false;
  const Step before = step_of(own, *std::prev(at)), now = step_of(own, entry);
  const Step awaited = step_of(peer, others.entry.front());
  // A step of one call: one call less is one step less.
  if (before == awaited) return false;
  return (goes_from_to(own, node.group, awaited, now, entry) ||
          goes_from_to(peer, node.group, awaited, now, {})) &&
         !goes_from_to(own, node.group, before, now, entry) &&
         !goes_from_to(peer, node.group, before, now, {});
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
  if (odd_outside && !others_outside) {
    // Who left the loop is where the others come to later; who left out a call is there early.
    const auto odd = std::find_if(node.parties.begin(), node.parties.end(), [&](const auto& party) {
      return std::binary_search(ranks.begin(), ranks.end(), party.ranks.front());
    });
    const auto others = std::find_if(node.parties.begin(), node.parties.end(), [&](const auto& p) {
      return !std::binary_search(ranks.begin(), ranks.end(), p.ranks.front());
    });
    const bool both = odd != node.parties.end() && others != node.parties.end();
    return both && left_one_out(evidence, node, *odd, *others) ? FlightVerdictKind::out_of_order
                                                               : FlightVerdictKind::ahead_left_loop;
  }
  return extra ? FlightVerdictKind::extra_op : FlightVerdictKind::mismatch;
}

}  // namespace muster
