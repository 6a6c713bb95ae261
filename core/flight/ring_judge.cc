#include "core/flight/ring_judge.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/flight/odd_call.h"

namespace muster {
namespace {

// Sets of ranks that are tried as the way out of a ring.
constexpr std::size_t kRingTries = 8192;

using Ranks = std::vector<std::int32_t>;

// Whether the rank of both posts `send` before it receives what the peer sends back. What is in one
// batch is posted at once, in whatever order it was recorded.
bool sends_first(const FlightRank& rank, const WaitNode& send, const WaitNode& back) {
  if (!back.received) return !rank.dump().cut_at;
  const FlightEntry& out = rank.entry(*send.sent);
  const FlightEntry& in = rank.entry(*back.received);
  const bool one_batch = send.group == back.group && out.p2p_seq > 0 && out.p2p_seq == in.p2p_seq;
  return !one_batch && *send.sent < *back.received;
}

}  // namespace

// Sets of ranks, smallest first, without whose own waits no ring is left: whoever waits together in
// one place, or carries one edge.
std::vector<Ranks> RingJudge::ring_breakers(const Ranks& unexplained) const {
  std::set<std::pair<std::size_t, Ranks>> tries;
  const std::vector<bool> ring = graph_.on_rings();
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    if (!ring[i] || node.waiting.empty()) continue;
    Ranks waiting = node.waiting;
    std::sort(waiting.begin(), waiting.end());
    for (const std::int32_t rank : waiting) tries.insert({1, {rank}});
    tries.insert({waiting.size(), waiting});
  }
  std::vector<Ranks> found;
  std::size_t tried = 0, least = unexplained.size();
  for (const auto& [size, ranks] : tries) {
    if (size > least || ++tried > kRingTries) break;
    if (!graph_.breaks_all_rings(ranks)) continue;
    least = size;
    found.push_back(ranks);
  }
  return found;
}

// Two ranks that both send first and receive, if at all, after that.
std::optional<Ranks> RingJudge::crossed_sends(const std::vector<bool>& ring) const {
  std::map<std::pair<std::int32_t, std::int32_t>, const WaitNode*> sends;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    if (!ring[i] || node.kind != WaitKind::message || !node.sent) continue;
    sends.emplace(std::pair(node.from, node.to), &node);
  }
  for (const auto& [route, there] : sends) {
    const auto back = sends.find({route.second, route.first});
    if (back == sends.end()) continue;
    const bool crossed = sends_first(*fleet_.find(route.first), *there, *back->second) &&
                         sends_first(*fleet_.find(route.second), *back->second, *there);
    if (!crossed) continue;
    return Ranks{std::min(route.first, route.second), std::max(route.first, route.second)};
  }
  return {};
}

// Of several ways out of the ring, those with ranks that never made such an order of calls before.
void RingJudge::keep_the_novel(std::vector<Ranks>& breakers) const {
  std::vector<Ranks> novel;
  for (const Ranks& ranks : breakers) {
    if (is_novel(ranks)) novel.push_back(ranks);
  }
  if (!novel.empty()) breakers = novel;
}

bool RingJudge::is_novel(const Ranks& ranks) const {
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](std::int32_t rank) { return evidence_.history().novelty(rank) > 0; });
}

// The ring with its shown node in front: one where the culprits themselves wait.
std::vector<std::uint32_t> RingJudge::ring_roots(const std::vector<bool>& ring,
                                                 const Ranks& culprits) const {
  std::vector<std::uint32_t> roots;
  for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
    if (!ring[i]) continue;
    const auto& waiting = graph_.nodes()[i].waiting;
    const bool theirs = !culprits.empty() && std::find(waiting.begin(), waiting.end(),
                                                       culprits.front()) != waiting.end();
    roots.insert(theirs ? roots.begin() : roots.end(), i);
  }
  return roots;
}

// Each of these ranks has one call from which it has not come back.
bool RingJudge::all_inside_launch(const Ranks& ranks) const {
  return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [&](std::int32_t r) {
    const FlightRank& rank = *fleet_.find(r);
    return std::any_of(rank.lanes().begin(), rank.lanes().end(), [&](const FlightLane& lane) {
      return !lane.collectives.empty() && inside_launch(rank, lane, lane.collectives.back());
    });
  });
}

// The ranks without whose own waits no ring is left, where that is one small set.
void RingJudge::name_the_breakers(bool lost, Suspicion& suspicion) const {
  const WaitNode& node = graph_.nodes()[suspicion.roots.front()];
  const bool known = node.kind == WaitKind::collective;
  suspicion.kind =
      known ? kind_of_odd(evidence_, node, suspicion.culprits) : FlightVerdictKind::out_of_order;
  if (suspicion.kind == FlightVerdictKind::mismatch) {
    suspicion.kind = FlightVerdictKind::out_of_order;
  }
  // One rank may be the only way out by chance of a small ring; its own past must agree.
  const bool novel = is_novel(suspicion.culprits);
  suspicion.confidence = novel ? Confidence::medium : Confidence::low;
  if (lost && !novel) give_up(suspicion);
  if (all_inside_launch(suspicion.culprits)) suspicion.kind = FlightVerdictKind::in_launch;
}

// What came after in a cut file is not known.
bool RingJudge::is_cut(const WaitNode& node) const {
  return std::any_of(node.waiting.begin(), node.waiting.end(), [&](std::int32_t rank) {
    return fleet_.find(rank)->dump().cut_at.has_value();
  });
}

std::optional<Suspicion> RingJudge::judge(const Ranks& unexplained) const {
  const std::vector<bool> ring = graph_.on_rings();
  Suspicion suspicion;
  bool lost = false;
  for (std::uint32_t i = 0; i < ring.size(); ++i) {
    const WaitNode& node = graph_.nodes()[i];
    lost = lost || (ring[i] && (evidence_.forgotten(node) || is_cut(node)));
  }
  if (const auto crossed = lost ? std::nullopt : crossed_sends(ring)) {
    suspicion.kind = FlightVerdictKind::deadlock_cycle;
    suspicion.confidence = Confidence::medium;
    suspicion.culprits = *crossed;
    suspicion.roots = ring_roots(ring, *crossed);
    suspicion.why = "both send first and neither receives";
    evidence_.weigh(suspicion);
    return suspicion;
  }
  std::vector<Ranks> breakers = ring_breakers(unexplained);
  suspicion.why = "all waits go through it, and end without it";
  if (breakers.size() > 1) {
    keep_the_novel(breakers);
    suspicion.why = "its order of calls was never seen before, that of the others always";
  }
  for (const Ranks& ranks : breakers) suspicion.culprits = merged(suspicion.culprits, ranks);
  suspicion.roots = ring_roots(ring, suspicion.culprits);
  if (suspicion.roots.empty()) return {};
  if (breakers.size() == 1 && is_minority(suspicion.culprits.size(), fleet_.ranks().size())) {
    name_the_breakers(lost, suspicion);
  } else if (lost) {
    give_up(suspicion);
  } else {
    suspicion.kind = FlightVerdictKind::deadlock_cycle;
    suspicion.confidence = suspicion.culprits.size() == 2 ? Confidence::medium : Confidence::low;
    suspicion.why = "each waits for the other; nothing tells which of them left the common order";
  }
  evidence_.weigh(suspicion);
  return suspicion;
}

}  // namespace muster
