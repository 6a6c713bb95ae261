#include "core/flight/verdict_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "base/number_runs.h"
#include "core/flight/failure_age.h"
#include "core/flight/frames.h"

namespace muster {
namespace {

using Ranks = std::vector<std::int32_t>;

// Sides that are shown; a disagreement of more is counted.
constexpr std::size_t kSides = 6;

bool holds(const Ranks& ranks, std::int32_t rank) {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

FlightSide side_of_entry(const FlightRank& rank, std::uint32_t index, Ranks ranks,
                         std::string about) {
  FlightSide side;
  side.ranks = std::move(ranks);
  side.call = describe_call(rank.signature(index));
  side.frame = describe_frame(user_frame(rank.dump(), rank.stack(index)));
  if (rank.entry(index).seq != FlightEntry::kAbsent) side.seq = rank.entry(index).seq;
  side.source = rank.dump().source;
  side.about = std::move(about);
  return side;
}

// Ranks that are not in: each by the last thing that it did.
void add_away(const FlightFleet& fleet, const Ranks& ranks, std::vector<FlightSide>& sides) {
  for (const std::int32_t member : ranks) {
    if (sides.size() >= kSides) return;
    const FlightRank* rank = fleet.find(member);
    if (rank == nullptr) {
      FlightSide side;
      side.ranks = {member};
      side.call = "no dump";
      side.about = "left no dump";
      sides.push_back(std::move(side));
      continue;
    }
    const auto& entries = rank->dump().entries;
    if (entries.size() == rank->first_entry()) {
      FlightSide side;
      side.ranks = {member};
      side.call = "nothing";
      side.source = rank->dump().source;
      side.about = "has issued nothing";
      sides.push_back(std::move(side));
      continue;
    }
    const auto last = static_cast<std::uint32_t>(entries.size() - 1);
    const bool over = !rank->unfinished(last);
    sides.push_back(side_of_entry(*rank, last, {member},
                                  over ? "last call; elsewhere since" : "waits in another group"));
  }
}

void add_parties(const FlightFleet& fleet, const WaitNode& node, const Ranks& culprits,
                 std::vector<FlightSide>& sides) {
  for (const bool odd_first : {true, false}) {
    for (const CallParty& party : node.parties) {
      const bool odd = holds(culprits, party.ranks.front());
      if (odd != odd_first || sides.size() >= kSides) continue;
      const FlightRank& rank = *fleet.find(party.ranks.front());
      sides.push_back(side_of_entry(rank, party.entry.front(), party.ranks, "in it"));
    }
  }
}

void add_message(const FlightFleet& fleet, const WaitNode& node, std::vector<FlightSide>& sides) {
  if (node.sent) {
    sides.push_back(side_of_entry(*fleet.find(node.from), *node.sent, {node.from}, "sends"));
  }
  if (node.received) {
    sides.push_back(side_of_entry(*fleet.find(node.to), *node.received, {node.to}, "receives"));
  }
}

// The node that shows best what the others wait in: of an idle or lost rank, the one with most
// ranks in it that waits for it directly.
const WaitNode* shown_node(const Suspicion& suspicion, const WaitGraph& graph) {
  const auto& nodes = graph.nodes();
  const std::uint32_t root = suspicion.roots.front();
  const bool is_rank =
      nodes[root].kind == WaitKind::idle_rank || nodes[root].kind == WaitKind::rank_without_dump;
  if (!is_rank) return &nodes[root];
  const WaitNode* best = nullptr;
  for (const WaitNode& node : nodes) {
    const bool waits = std::any_of(node.hard.begin(), node.hard.end(),
                                   [&](const WaitEdge& edge) { return edge.to == root; });
    if (waits && (best == nullptr || node.waiting.size() > best->waiting.size())) best = &node;
  }
  return best;
}

std::optional<WallTime> first_wait(const FlightFleet& fleet, const WaitNode& node) {
  std::optional<std::int64_t> first;
  const auto see = [&](const FlightRank& rank, std::uint32_t entry) {
    const std::int64_t at = rank.entry(entry).created_ns;
    if (at != FlightEntry::kAbsent && (!first || at < *first)) first = at;
  };
  for (const CallParty& party : node.parties) {
    for (std::size_t i = 0; i < party.ranks.size(); ++i) {
      const FlightRank& rank = *fleet.find(party.ranks[i]);
      if (rank.unfinished(party.entry[i])) see(rank, party.entry[i]);
    }
  }
  if (node.sent) see(*fleet.find(node.from), *node.sent);
  if (node.received) see(*fleet.find(node.to), *node.received);
  if (!first) return {};
  return wall_from_ns(*first);
}

std::string difference_of(const FlightFleet& fleet, const WaitNode& node) {
  if (node.parties.size() < 2) return "operation";
  const auto signature = [&](const CallParty& party) -> const FlightSignature& {
    return fleet.find(party.ranks.front())->signature(party.entry.front());
  };
  const auto what = call_difference(signature(node.parties[0]), signature(node.parties[1]));
  return what.empty() ? "batch" : std::string(what);
}

std::string who_wait(std::size_t ranks) {
  return ranks == 1 ? "1 rank waits" : fmt::format("{} ranks wait", ranks);
}

std::string headline(const FlightVerdict& v, const FlightFleet& fleet, const WaitNode* node) {
  const std::string who = describe_ranks(v.culprits);
  const std::size_t others = v.explained - std::min(v.explained, v.culprits.size());
  const std::string where = v.seq ? fmt::format("{} at {}", v.group, *v.seq) : std::string(v.group);
  const bool one = v.culprits.size() == 1;
  switch (v.kind) {
    case FlightVerdictKind::behind:
      return fmt::format("{} {} not come to {}; {}", who, one ? "has" : "have", where,
                         who_wait(v.explained));
    case FlightVerdictKind::in_launch:
      return fmt::format("{} {} stuck inside the launch of {}", who, one ? "is" : "are", where);
    case FlightVerdictKind::comm_init:
      return fmt::format("{} never issued anything in {}, where others wait", who, v.group);
    case FlightVerdictKind::no_dump:
      return fmt::format("{} left no dump, and {} for {}", who, who_wait(v.explained),
                         one ? "it" : "them");
    case FlightVerdictKind::mismatch:
      return fmt::format("{} called another {} than the rest in {}", who,
                         difference_of(fleet, *node), where);
    case FlightVerdictKind::ahead_left_loop:
      return fmt::format("{} left the training loop; {} ranks wait", who, others);
    case FlightVerdictKind::extra_op:
      return fmt::format("{} {} a collective that the others never call there", who,
                         one ? "makes" : "make");
    case FlightVerdictKind::out_of_order:
      return fmt::format("{} went on to {} without a call that the others wait for", who, where);
    case FlightVerdictKind::deadlock_cycle:
      return fmt::format("{} wait for each other", who);
    case FlightVerdictKind::fabric_all:
      return fmt::format("all {} members are in {} and it does not end", v.group_size, where);
    case FlightVerdictKind::fabric_partial:
      return fmt::format("{} ended for some of {} members only", where, v.group_size);
    case FlightVerdictKind::fabric_p2p:
      if (v.culprits.empty()) {
        return fmt::format("messages of one batch in {} are posted at both ends and do not move",
                           v.group);
      }
      return fmt::format("a message between {} is posted at both ends and does not move", who);
    case FlightVerdictKind::p2p_size_mismatch:
      return fmt::format("{} send and receive different sizes",
                         v.culprits.empty() ? "several pairs of ranks" : who);
    default:
      return fmt::format("{}, and the dumps do not say for whom", who_wait(v.waiting));
  }
}

bool may_be_narrowed(FlightVerdictKind kind) {
  return kind == FlightVerdictKind::no_dump || kind == FlightVerdictKind::behind ||
         kind == FlightVerdictKind::comm_init;
}

void keep_once(Ranks& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

// Whether the log of a rank without a dump says that it waited in the call of the verdict itself.
bool waited_too(const RankWitness& witness, const FlightVerdict& verdict, const FleetGroup& group) {
  if (witness.kind != WitnessKind::collective_timeout || !witness.group) return false;
  const bool here = *witness.group == group.name || *witness.group == group.description;
  return here && verdict.seq && witness.seq == verdict.seq &&
         failure_age(witness, verdict.waiting_since) == FailureAge::fresh;
}

// Of several ranks without a dump, those of which RAS or a log says that they are elsewhere; not
// those that waited as the others did. One that is left is named as one is that alone is missing.
void narrow_missing(const FleetGroup& group, FlightVerdict& verdict) {
  Ranks elsewhere, waited, left;
  for (const RankWitness& witness : verdict.witnesses) {
    const bool fresh = failure_age(witness, verdict.waiting_since) == FailureAge::fresh;
    if (fresh && witness.kind >= WitnessKind::left_script) elsewhere.push_back(witness.rank);
    if (waited_too(witness, verdict, group)) waited.push_back(witness.rank);
  }
  keep_once(elsewhere);
  keep_once(waited);
  std::set_difference(verdict.culprits.begin(), verdict.culprits.end(), waited.begin(),
                      waited.end(), std::back_inserter(left));
  const bool some_waited = left.size() < verdict.culprits.size();
  if (left.empty()) {
    verdict.kind = FlightVerdictKind::undecided;
    verdict.confidence = Confidence::low;
    verdict.culprits.clear();
    verdict.why = "those without a dump waited in the same call, as their logs say: " + verdict.why;
    return;
  }
  Ranks named;
  std::set_intersection(elsewhere.begin(), elsewhere.end(), left.begin(), left.end(),
                        std::back_inserter(named));
  if (named.empty() && !some_waited) return;
  verdict.why = named.empty() ? "the other ranks without a dump waited too, as their logs say"
                              : "of those without a dump, these are elsewhere, as was seen";
  const bool one = named.size() == 1 || (named.empty() && left.size() == 1);
  if (one || !named.empty()) verdict.confidence = std::max(verdict.confidence, Confidence::medium);
  verdict.culprits = named.empty() ? left : named;
  std::erase_if(verdict.witnesses,
                [&](const RankWitness& w) { return !holds(verdict.culprits, w.rank); });
}

// Of several ranks that are away, those whose own logs say why they failed; surer where all say so.
// What they said of an earlier attempt is shown, and decides nothing.
void join_witnesses(std::span<const RankWitness> witnesses, const FleetGroup* group,
                    FlightVerdict& verdict) {
  Ranks failed;
  bool doubtful = false;
  for (const RankWitness& witness : witnesses) {
    if (!holds(verdict.culprits, witness.rank)) continue;
    verdict.witnesses.push_back(witness);
    const FailureAge age = failure_age(witness, verdict.waiting_since);
    if (!tells_a_cause(witness.kind) || age == FailureAge::stale) continue;
    failed.push_back(witness.rank);
    doubtful = doubtful || age == FailureAge::doubtful;
  }
  keep_once(failed);
  if (!may_be_narrowed(verdict.kind)) return;
  if (failed.empty()) {
    const bool several = verdict.kind == FlightVerdictKind::no_dump && verdict.culprits.size() > 1;
    if (several && group != nullptr) narrow_missing(*group, verdict);
    return;
  }
  const bool all = failed == verdict.culprits;
  verdict.culprits = failed;
  std::erase_if(verdict.witnesses,
                [&](const RankWitness& witness) { return !holds(failed, witness.rank); });
  const bool was_low = verdict.confidence == Confidence::low;
  verdict.confidence = all && !was_low && !doubtful ? Confidence::high : Confidence::medium;
}

}  // namespace

bool tells_a_cause(WitnessKind kind) {
  return kind <= WitnessKind::network_error || kind == WitnessKind::watchdog_stuck;
}

std::string describe_ranks(const Ranks& ranks) {
  if (ranks.empty()) return "no rank";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (const auto& run : runs_of(ranks)) {
    if (run.first != ranks.front()) text += ",";
    if (text.size() > 80) return text + fmt::format("... ({} in all)", ranks.size());
    text += std::to_string(run.first);
    if (run.last > run.first) text += fmt::format("-{}", run.last);
  }
  return text;
}

FlightSide side_at(const FlightFleet& fleet, const Ranks& ranks, std::uint32_t group,
                   std::int64_t seq, std::string about) {
  const FlightRank& rank = *fleet.find(ranks.front());
  return side_of_entry(rank, *rank.find(group, seq), ranks, std::move(about));
}

FlightVerdict put_into_words(const Suspicion& suspicion, const FlightFleet& fleet,
                             const WaitGraph& graph, std::span<const RankWitness> witnesses) {
  FlightVerdict verdict;
  verdict.kind = suspicion.kind;
  verdict.confidence = suspicion.confidence;
  verdict.culprits = suspicion.culprits;
  verdict.explained = suspicion.explained;
  verdict.waiting = graph.waiting().size();
  verdict.why = suspicion.why;
  const WaitNode* node = shown_node(suspicion, graph);
  if (node != nullptr) {
    verdict.group = fleet.groups()[node->group].title();
    verdict.group_size = fleet.groups()[node->group].ranks.size();
    if (node->kind == WaitKind::collective) verdict.seq = node->seq;
    Ranks away;
    for (const Ranks* list : {&node->absent, &node->no_dump}) {
      for (const std::int32_t rank : *list) {
        if (holds(suspicion.culprits, rank)) away.push_back(rank);
      }
    }
    add_away(fleet, away, verdict.sides);
    add_parties(fleet, *node, suspicion.culprits, verdict.sides);
    if (node->kind == WaitKind::message) add_message(fleet, *node, verdict.sides);
    verdict.waiting_since = first_wait(fleet, *node);
  }
  join_witnesses(witnesses, node == nullptr ? nullptr : &fleet.groups()[node->group], verdict);
  verdict.summary = headline(verdict, fleet, node);
  return verdict;
}

}  // namespace muster
