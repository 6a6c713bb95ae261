#include "core/flight/wait_graph.h"

#include <algorithm>

#include "core/flight/messages.h"

namespace muster {
namespace {

// Outstanding messages of one rank and group that are followed; more say nothing new.
constexpr std::size_t kMessagesFollowed = 64;

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
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    WaitNode node;
    node.kind = WaitKind::message;
    node.group = message.group;
    node.from = message.from;
    node.to = message.to;
    node.sent = message.sent;
    node.received = message.received;
    if (message.sent && fleet.find(message.from)->unfinished(*message.sent)) {
      node.waiting.push_back(message.from);
    }
    if (message.received && fleet.find(message.to)->unfinished(*message.received)) {
      node.waiting.push_back(message.to);
    }
    for (const std::int32_t rank : node.waiting) waits_[rank].push_back(index);
    nodes_.push_back(std::move(node));
  }
  for (const auto& [rank, nodes] : waits_) waiting_.push_back(rank);
  const std::size_t unfinished = nodes_.size();
  for (std::uint32_t i = 0; i < unfinished; ++i) {
    if (nodes_[i].kind == WaitKind::collective) fill_collective(nodes_[i]);
  }
  for (std::uint32_t i = 0; i < unfinished; ++i) {
    if (nodes_[i].kind == WaitKind::collective) link_collective(i);
    if (nodes_[i].kind == WaitKind::message) link_message(i);
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

void WaitGraph::fill_collective(WaitNode& node) {
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
    const std::uint64_t key = rank->key(entry);
    auto party = std::find_if(node.parties.begin(), node.parties.end(),
                              [&](const CallParty& p) { return p.key == key; });
    if (party == node.parties.end()) {
      node.parties.push_back({key, {}, {}});
      party = node.parties.end() - 1;
    }
    party->ranks.push_back(member);
    party->entry.push_back(entry);
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

void WaitGraph::link_absent(std::uint32_t index, std::int32_t rank) {
  const auto& waits = waits_of(rank);
  if (waits.empty()) {
    const std::uint32_t idle = rank_node(WaitKind::idle_rank, rank);
    nodes_[index].hard.push_back({idle, rank});
    return;
  }
  for (const std::uint32_t wait : waits) {
    if (wait != index) nodes_[index].hard.push_back({wait, rank});
  }
}

// What the rank issued before this entry and still waits for may hold this entry up.
void WaitGraph::link_older(std::uint32_t index, std::int32_t rank, std::uint32_t entry) {
  for (const std::uint32_t wait : waits_of(rank)) {
    const WaitNode& other = nodes_[wait];
    std::optional<std::uint32_t> at;
    if (other.kind == WaitKind::collective) {
      at = fleet_.find(rank)->find(other.group, other.seq);
    } else {
      at = other.from == rank ? other.sent : other.received;
    }
    if (wait != index && at && *at < entry) nodes_[index].soft.push_back({wait, rank});
  }
}

void WaitGraph::link_collective(std::uint32_t index) {
  // Copies: rank_node() may move the nodes.
  const std::vector<std::int32_t> absent = nodes_[index].absent;
  const std::vector<std::int32_t> unknown = nodes_[index].unknown;
  const std::vector<std::int32_t> no_dump = nodes_[index].no_dump;
  const std::vector<CallParty> parties = nodes_[index].parties;
  for (const std::int32_t rank : absent) link_absent(index, rank);
  for (const std::int32_t rank : unknown) {
    // Whoever waits for nothing at all has hardly issued this and gone on; what a cut file lost is
    // not known.
    const bool cut = fleet_.find(rank)->dump().cut_at.has_value();
    if (!cut && waits_of(rank).empty()) link_absent(index, rank);
    for (const std::uint32_t wait : waits_of(rank)) {
      if (wait != index) nodes_[index].soft.push_back({wait, rank});
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
    } else {
      link_absent(index, rank);
    }
  };
  if (!node.sent) return peer(node.from);
  if (!node.received) return peer(node.to);
  // Both ends are posted: a batch ends as a whole, so another message of it may be what waits.
  for (const auto& [rank, entry] :
       {std::pair(node.from, *node.sent), std::pair(node.to, *node.received)}) {
    link_older(index, rank, entry);
    const FlightRank& own = *fleet_.find(rank);
    for (const std::uint32_t wait : waits_of(rank)) {
      const WaitNode& other = nodes_[wait];
      if (wait == index || other.kind != WaitKind::message || (other.sent && other.received)) {
        continue;
      }
      const std::uint32_t at = other.from == rank ? *other.sent : *other.received;
      const bool same_batch = own.entry(at).group == own.entry(entry).group &&
                              own.entry(at).p2p_seq == own.entry(entry).p2p_seq;
      if (same_batch) nodes_[index].soft.push_back({wait, rank});
    }
  }
}

std::vector<bool> WaitGraph::reaching(const std::vector<std::uint32_t>& targets) const {
  std::vector<std::vector<std::uint32_t>> back(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const WaitEdge& edge : edges_of(nodes_[i])) back[edge.to].push_back(i);
  }
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<std::uint32_t> open = targets;
  for (const std::uint32_t target : targets) seen[target] = true;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const std::uint32_t before : back[at]) {
      if (seen[before]) continue;
      seen[before] = true;
      open.push_back(before);
    }
  }
  return seen;
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
