#include "core/flight/wait_graph.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"

namespace muster {
namespace {

// Outstanding messages of one rank and group that are followed; more say nothing new.
constexpr std::size_t kMessagesFollowed = 64;
// Waits between the first and the last message of a batch that are followed: as a rule none.
constexpr std::ptrdiff_t kBetweenFollowed = 64;

// The edges that hold: soft ones only where nothing hard explains the node, none out of a
// disagreement, which never ends by itself.
const std::vector<WaitEdge>& edges_of(const WaitNode& node) {
  static const std::vector<WaitEdge> kNone;
  if (node.kind == WaitKind::collective && node.parties.size() > 1) return kNone;
  return node.hard.empty() ? node.soft : node.hard;
}

}  // namespace

WaitGraph::WaitGraph(const FlightFleet& fleet) : fleet_(fleet) {
  for (const FlightRank& rank : fleet.ranks()) {
    for (const FlightLane& lane : rank.lanes()) {
      if (const auto index = rank.first_unfinished(lane)) {
        waits_[rank.rank()].push_back(collective_node(lane.group, rank.entry(*index).seq));
      }
    }
  }
  for (const Message& message : unfinished_messages(fleet, kMessagesFollowed)) {
    add_message(message);
  }
  const std::size_t unfinished = nodes_.size();
  for (const auto& [rank, waits] : waits_) {
    waiting_.push_back(rank);
    queue_waits(rank, waits);
  }
  for (std::uint32_t i = 0; i < unfinished; ++i) {
    if (nodes_[i].kind == WaitKind::collective) fill_collective(nodes_[i]);
  }
  for (std::uint32_t i = 0; i < unfinished; ++i) {
    if (nodes_[i].kind == WaitKind::collective) link_collective(i);
    if (nodes_[i].kind == WaitKind::message) link_message(i);
  }
  turn_edges();
  waiters_.resize(nodes_.size());
  for (const auto& [rank, waits] : waits_) {
    for (const std::uint32_t node : waits) waiters_[node].push_back(rank);
  }
}

const std::vector<std::uint32_t>& WaitGraph::waits_of(std::int32_t rank) const {
  static const std::vector<std::uint32_t> kNone;
  const auto at = waits_.find(rank);
  return at == waits_.end() ? kNone : at->second;
}

std::uint32_t WaitGraph::collective_node(std::uint32_t group, std::int64_t seq) {
  const auto [place, added] =
      collectives_.emplace(std::pair(group, seq), static_cast<std::uint32_t>(nodes_.size()));
  if (added) {
    WaitNode node;
    node.group = group;
    node.seq = seq;
    nodes_.push_back(std::move(node));
  }
  return place->second;
}

std::uint32_t WaitGraph::rank_node(WaitKind kind, std::int32_t rank) {
  const auto [place, added] =
      rank_nodes_.emplace(std::pair(kind, rank), static_cast<std::uint32_t>(nodes_.size()));
  if (added) {
    WaitNode node;
    node.kind = kind;
    node.rank = rank;
    nodes_.push_back(std::move(node));
  }
  return place->second;
}

void WaitGraph::add_message(const Message& message) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  WaitNode node;
  node.kind = WaitKind::message;
  node.group = message.group;
  node.from = message.from;
  node.to = message.to;
  node.sent = message.sent;
  node.received = message.received;
  if (message.sent && fleet_.find(message.from)->unfinished(*message.sent)) {
    node.waiting.push_back(message.from);
  }
  if (message.received && fleet_.find(message.to)->unfinished(*message.received)) {
    node.waiting.push_back(message.to);
  }
  for (const std::int32_t rank : node.waiting) waits_[rank].push_back(index);
  nodes_.push_back(std::move(node));
}

void WaitGraph::fill_collective(WaitNode& node) {
  std::unordered_map<std::uint64_t, std::size_t> party_of;
  for (const std::int32_t member : fleet_.groups()[node.group].ranks) {
    const FlightRank* rank = fleet_.find(member);
    if (rank == nullptr) {
      node.no_dump.push_back(member);
      continue;
    }
    const Presence presence = rank->presence(node.group, node.seq);
    if (presence == Presence::absent) node.absent.push_back(member);
    if (presence == Presence::unknown) node.unknown.push_back(member);
    if (presence == Presence::passed) ++node.finished;
    if (presence != Presence::present) continue;
    const std::uint32_t entry = *rank->find(node.group, node.seq);
    const auto [at, added] = party_of.emplace(rank->key(entry), node.parties.size());
    if (added) node.parties.push_back({at->first, {}, {}});
    CallParty& party = node.parties[at->second];
    party.ranks.push_back(member);
    party.entry.push_back(entry);
    if (rank->unfinished(entry)) {
      node.waiting.push_back(member);
    } else {
      ++node.finished;
    }
  }
  std::stable_sort(
      node.parties.begin(), node.parties.end(),
      [](const CallParty& a, const CallParty& b) { return a.ranks.size() > b.ranks.size(); });
}

std::uint32_t WaitGraph::several_node(std::int32_t rank) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  WaitNode node;
  node.kind = WaitKind::several;
  node.rank = rank;
  nodes_.push_back(std::move(node));
  return index;
}

// Each wait gets a node that stands for it and the one that stands for all before it.
void WaitGraph::queue_waits(std::int32_t rank, const std::vector<std::uint32_t>& waits) {
  std::vector<Queued>& queue = queues_[rank];
  for (const std::uint32_t wait : waits) {
    const WaitNode& node = nodes_[wait];
    std::optional<std::uint32_t> entry;
    if (node.kind == WaitKind::collective) {
      entry = fleet_.find(rank)->find(node.group, node.seq);
    } else {
      entry = node.from == rank ? node.sent : node.received;
    }
    MUSTER_CHECK(entry.has_value(), "a rank waits in what it did not issue");
    queue.push_back({*entry, wait, wait});
  }
  std::sort(queue.begin(), queue.end(),
            [](const Queued& a, const Queued& b) { return a.entry < b.entry; });
  for (std::size_t i = 1; i < queue.size(); ++i) {
    queue[i].up_to = several_node(rank);
    nodes_[queue[i].up_to].hard = {{queue[i - 1].up_to, rank}, {queue[i].node, rank}};
  }
}

void WaitGraph::link_absent(std::uint32_t index, std::int32_t rank) {
  const auto queue = queues_.find(rank);
  const std::uint32_t to =
      queue == queues_.end() ? rank_node(WaitKind::idle_rank, rank) : queue->second.back().up_to;
  nodes_[index].hard.push_back({to, rank});
}

// What the rank issued before this entry and still waits for may hold this entry up.
void WaitGraph::link_older(std::uint32_t index, std::int32_t rank, std::uint32_t entry) {
  const auto queue = queues_.find(rank);
  if (queue == queues_.end()) return;
  const auto later = std::lower_bound(
      queue->second.begin(), queue->second.end(), entry,
      [](const Queued& queued, std::uint32_t wanted) { return queued.entry < wanted; });
  if (later == queue->second.begin()) return;
  nodes_[index].soft.push_back({std::prev(later)->up_to, rank});
}

// A number of messages counts from 1; where it is not told, each stands alone.
std::optional<WaitGraph::Batch> WaitGraph::batch_of(std::int32_t rank, const Queued& queued) const {
  if (nodes_[queued.node].kind != WaitKind::message) return {};
  const FlightEntry& entry = fleet_.find(rank)->entry(queued.entry);
  if (entry.p2p_seq <= 0) return {};
  return Batch{nodes_[queued.node].group, entry.p2p_seq};
}

// What holds a batch up: what was issued before it, and its messages of which one end is missing.
std::uint32_t WaitGraph::batch_node(std::int32_t rank, const Batch& batch) {
  const auto [place, added] = batches_.emplace(std::pair(rank, batch), 0);
  if (!added) return place->second;
  const std::vector<Queued>& queue = queues_.at(rank);
  const auto is_member = [&](const Queued& queued) { return batch_of(rank, queued) == batch; };
  const auto first = std::find_if(queue.begin(), queue.end(), is_member);
  const auto last = std::find_if(queue.rbegin(), queue.rend(), is_member).base();
  const std::uint32_t index = several_node(rank);
  place->second = index;
  std::ptrdiff_t between = 0;
  if (first != queue.begin()) nodes_[index].hard.push_back({std::prev(first)->up_to, rank});
  for (auto at = first; at < last; ++at) {
    const WaitNode& node = nodes_[at->node];
    const bool holds_up =
        is_member(*at) ? !(node.sent && node.received) : ++between <= kBetweenFollowed;
    if (holds_up) nodes_[index].hard.push_back({at->node, rank});
  }
  return index;
}

// A batch ends as a whole, and its messages do not wait for each other where both ends are posted.
void WaitGraph::link_batch(std::uint32_t index, std::int32_t rank, std::uint32_t entry) {
  const auto& waiting = nodes_[index].waiting;
  const bool waits = std::find(waiting.begin(), waiting.end(), rank) != waiting.end();
  const auto batch = waits ? batch_of(rank, {entry, index, index}) : std::nullopt;
  if (!batch) return link_older(index, rank, entry);
  const std::uint32_t holders = batch_node(rank, *batch);
  if (!nodes_[holders].hard.empty()) nodes_[index].soft.push_back({holders, rank});
}

void WaitGraph::link_collective(std::uint32_t index) {
  // Copies: other nodes that are made on the way may move this one.
  const std::vector<std::int32_t> absent = nodes_[index].absent;
  const std::vector<std::int32_t> unknown = nodes_[index].unknown;
  const std::vector<std::int32_t> no_dump = nodes_[index].no_dump;
  const std::vector<CallParty> parties = nodes_[index].parties;
  for (const std::int32_t rank : absent) link_absent(index, rank);
  for (const std::int32_t rank : unknown) {
    // Whoever waits for nothing at all has hardly issued this and gone on; what a cut file lost is
    // not known.
    const auto queue = queues_.find(rank);
    if (queue != queues_.end()) {
      nodes_[index].soft.push_back({queue->second.back().up_to, rank});
    } else if (!fleet_.find(rank)->dump().cut_at &&
               !fleet_.find(rank)->hides(nodes_[index].group)) {
      link_absent(index, rank);
    }
  }
  for (const std::int32_t rank : no_dump) {
    const std::uint32_t gone = rank_node(WaitKind::rank_without_dump, rank);
    nodes_[index].hard.push_back({gone, rank});
  }
  for (const CallParty& party : parties) {
    for (std::size_t i = 0; i < party.ranks.size(); ++i) {
      link_older(index, party.ranks[i], party.entry[i]);
    }
  }
}

void WaitGraph::link_message(std::uint32_t index) {
  const WaitNode node = nodes_[index];
  const auto peer = [&](std::int32_t rank) {
    if (fleet_.find(rank) == nullptr) {
      const std::uint32_t gone = rank_node(WaitKind::rank_without_dump, rank);
      nodes_[index].hard.push_back({gone, rank});
    } else if (!fleet_.find(rank)->dump().cut_at && !fleet_.find(rank)->hides(node.group)) {
      link_absent(index, rank);
    } else if (const auto queue = queues_.find(rank); queue != queues_.end()) {
      // The end may be in what the cut file lost.
      nodes_[index].soft.push_back({queue->second.back().up_to, rank});
    }
  };
  if (!node.sent) return peer(node.from);
  if (!node.received) return peer(node.to);
  link_batch(index, node.from, *node.sent);
  link_batch(index, node.to, *node.received);
}

// Asked for each suspicion: the edges are turned round once.
void WaitGraph::turn_edges() {
  back_first_.assign(nodes_.size() + 1, 0);
  for (const WaitNode& node : nodes_) {
    for (const WaitEdge& edge : edges_of(node)) ++back_first_[edge.to + 1];
  }
  for (std::size_t i = 1; i < back_first_.size(); ++i) back_first_[i] += back_first_[i - 1];
  back_.resize(back_first_.back());
  std::vector<std::size_t> next = back_first_;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const WaitEdge& edge : edges_of(nodes_[i])) back_[next[edge.to]++] = i;
  }
}

std::vector<std::uint32_t> WaitGraph::reaching(const std::vector<std::uint32_t>& targets) const {
  std::unordered_set<std::uint32_t> seen(targets.begin(), targets.end());
  std::vector<std::uint32_t> found(seen.begin(), seen.end());
  for (std::size_t next = 0; next < found.size(); ++next) {
    const std::uint32_t at = found[next];
    for (std::size_t i = back_first_[at]; i < back_first_[at + 1]; ++i) {
      if (seen.insert(back_[i]).second) found.push_back(back_[i]);
    }
  }
  return found;
}

namespace {

// Takes away, again and again, what waits for nothing that is left; what stays lies on a ring or
// waits for one.
std::vector<bool> peel(const std::vector<WaitNode>& nodes, const std::vector<std::int32_t>& gone) {
  std::vector<std::vector<std::uint32_t>> back(nodes.size());
  std::vector<std::size_t> out(nodes.size(), 0);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const WaitEdge& edge : edges_of(nodes[i])) {
      if (std::binary_search(gone.begin(), gone.end(), edge.carrier)) continue;
      back[edge.to].push_back(i);
      ++out[i];
    }
  }
  std::vector<bool> left(nodes.size(), true);
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (out[i] == 0) open.push_back(i);
  }
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    left[at] = false;
    for (const std::uint32_t before : back[at]) {
      if (--out[before] == 0) open.push_back(before);
    }
  }
  return left;
}

}  // namespace

bool WaitGraph::breaks_all_rings(const std::vector<std::int32_t>& ranks) const {
  const std::vector<bool> left = peel(nodes_, ranks);
  return std::none_of(left.begin(), left.end(), [](bool b) { return b; });
}

std::vector<bool> WaitGraph::on_rings() const {
  return peel(nodes_, {});
}

}  // namespace muster
