#include "core/flight/stuck_messages.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace muster {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;
using Nodes = std::vector<std::uint32_t>;

// Nodes that belong together, each set under the first of them.
class Batches {
 public:
  explicit Batches(std::size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  // An end of a message in a batch of its rank.
  void see(std::size_t place, std::int32_t rank, std::uint32_t group, const FlightEntry& entry) {
    if (entry.p2p_seq <= 0) return;
    const auto [at, added] = of_batch_.emplace(std::tuple(rank, group, entry.p2p_seq), place);
    if (!added) parent_[top(place)] = top(at->second);
  }
  std::size_t top(std::size_t place) {
    while (parent_[place] != place) place = parent_[place] = parent_[parent_[place]];
    return place;
  }

 private:
  std::vector<std::size_t> parent_;
  std::map<std::tuple<std::int32_t, std::uint32_t, std::int64_t>, std::size_t> of_batch_;
};

std::int64_t amount(const FlightSignature& signature) {
  const CallTotals totals = call_totals(signature);
  return std::max(totals.in, totals.out);
}

bool sizes_differ(const FlightFleet& fleet, const WaitNode& node) {
  return amount(fleet.find(node.from)->signature(*node.sent)) !=
         amount(fleet.find(node.to)->signature(*node.received));
}

Pair ends_of(const WaitNode& node) {
  return {std::min(node.from, node.to), std::max(node.from, node.to)};
}

Suspicion judge_batch(const FlightEvidence& evidence, const Nodes& batch) {
  const auto& nodes = evidence.graph().nodes();
  Suspicion suspicion;
  std::set<Pair> all, unequal;
  for (const std::uint32_t index : batch) {
    const WaitNode& node = nodes[index];
    const bool differ = sizes_differ(evidence.fleet(), node);
    all.insert(ends_of(node));
    if (differ) unequal.insert(ends_of(node));
    suspicion.roots.insert(differ ? suspicion.roots.begin() : suspicion.roots.end(), index);
  }
  const std::set<Pair>& named = unequal.empty() ? all : unequal;
  const bool one = named.size() == 1;
  if (one) suspicion.culprits = {named.begin()->first, named.begin()->second};
  suspicion.kind =
      unequal.empty() ? FlightVerdictKind::fabric_p2p : FlightVerdictKind::p2p_size_mismatch;
  suspicion.confidence = unequal.empty() || !one ? Confidence::medium : Confidence::high;
  suspicion.why = !unequal.empty() ? "both ends are posted with different sizes"
                  : one            ? "both ends are posted with the same size and nothing moves"
                        : "all are posted at both ends, and a batch ends as a whole: counters of "
                          "the links, or NCCL RAS, would tell which of them does not move";
  // What a cut file has lost of the batch may be what holds it up.
  const bool cut = std::any_of(batch.begin(), batch.end(), [&](std::uint32_t i) {
    return evidence.fleet().find(nodes[i].from)->dump().cut_at ||
           evidence.fleet().find(nodes[i].to)->dump().cut_at;
  });
  if (cut && unequal.empty()) suspicion.confidence = Confidence::low;
  const bool lost = std::any_of(batch.begin(), batch.end(),
                                [&](std::uint32_t i) { return evidence.forgotten(nodes[i]); });
  if (lost) give_up(suspicion);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> stuck_messages(const FlightEvidence& evidence) {
  const auto& nodes = evidence.graph().nodes();
  Nodes stuck;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const WaitNode& node = nodes[i];
    if (node.kind != WaitKind::message || !node.sent || !node.received) continue;
    if (node.soft.empty()) stuck.push_back(i);
  }
  Batches batches(stuck.size());
  for (std::size_t place = 0; place < stuck.size(); ++place) {
    const WaitNode& node = nodes[stuck[place]];
    const FlightRank& from = *evidence.fleet().find(node.from);
    const FlightRank& to = *evidence.fleet().find(node.to);
    batches.see(place, node.from, node.group, from.entry(*node.sent));
    batches.see(place, node.to, node.group, to.entry(*node.received));
  }
  std::map<std::size_t, Nodes> by_batch;
  for (std::size_t place = 0; place < stuck.size(); ++place) {
    by_batch[batches.top(place)].push_back(stuck[place]);
  }
  std::vector<Suspicion> found;
  for (const auto& [top, batch] : by_batch) found.push_back(judge_batch(evidence, batch));
  return found;
}

}  // namespace muster
