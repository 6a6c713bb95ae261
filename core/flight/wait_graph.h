#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/flight/fleet.h"
#include "core/flight/messages.h"

// Who waits for whom. A node is something unfinished (a collective of a group, a message) or a rank
// that holds others up without waiting itself. An edge says: this cannot end before that, because
// of the rank that carries it.

namespace muster {

enum class WaitKind : std::uint8_t {
  collective,
  message,
  idle_rank,
  rank_without_dump,
  several,  // stands for several waits of one rank, so that edges are as many as waits, not squared
};

struct WaitEdge {
  std::uint32_t to = 0;
  std::int32_t carrier = 0;
};

// Members that called the same thing.
struct CallParty {
  std::uint64_t key = 0;
  std::vector<std::int32_t> ranks;   // sorted
  std::vector<std::uint32_t> entry;  // of each of them in its own dump
};

struct WaitNode {
  WaitKind kind = WaitKind::collective;
  std::uint32_t group = 0;  // of collectives and messages
  std::int64_t seq = 0;     // collectives
  std::int32_t rank = 0;    // of a rank node, and of several waits

  // Collectives: who is in, by what it called; biggest party first. Who is not.
  std::vector<CallParty> parties;
  std::vector<std::int32_t> absent, unknown, no_dump;
  std::size_t finished = 0;  // of those that are in, and those whose rings have forgotten it

  // Messages: global ranks, and the entries of the ends that are posted.
  std::int32_t from = 0, to = 0;
  std::optional<std::uint32_t> sent, received;

  std::vector<WaitEdge> hard, soft;
  // Ranks that are in and cannot go on.
  std::vector<std::int32_t> waiting;
};

class WaitGraph {
 public:
  explicit WaitGraph(const FlightFleet& fleet);

  const std::vector<WaitNode>& nodes() const { return nodes_; }
  // Ranks with something unfinished, sorted.
  const std::vector<std::int32_t>& waiting() const { return waiting_; }
  // The nodes in which `rank` waits.
  const std::vector<std::uint32_t>& waits_of(std::int32_t rank) const;
  // Every node from which a target can be reached, in no order.
  std::vector<std::uint32_t> reaching(const std::vector<std::uint32_t>& targets) const;
  // Ranks of which a node is one of the first waits.
  const std::vector<std::int32_t>& who_waits_in(std::uint32_t node) const { return waiters_[node]; }
  // Whether, with the edges carried by `ranks` gone, no ring of waits is left.
  bool breaks_all_rings(const std::vector<std::int32_t>& ranks) const;
  // Nodes that lie on a ring of waits, or wait for nothing but rings.
  std::vector<bool> on_rings() const;

 private:
  std::uint32_t collective_node(std::uint32_t group, std::int64_t seq);
  std::uint32_t rank_node(WaitKind kind, std::int32_t rank);
  // One wait of a rank in its order of issue.
  struct Queued {
    std::uint32_t entry = 0;  // in its dump
    std::uint32_t node = 0;
    std::uint32_t up_to = 0;  // node that stands for this wait and all before it
  };
  // Messages of a rank that were issued as one: group, number.
  using Batch = std::pair<std::uint32_t, std::int64_t>;

  void add_message(const Message& message);
  void fill_collective(WaitNode& node);
  void queue_waits(std::int32_t rank, const std::vector<std::uint32_t>& waits);
  std::uint32_t several_node(std::int32_t rank);
  std::uint32_t batch_node(std::int32_t rank, const Batch& batch);
  void link_collective(std::uint32_t index);
  void link_message(std::uint32_t index);
  void link_absent(std::uint32_t index, std::int32_t rank);
  void link_older(std::uint32_t index, std::int32_t rank, std::uint32_t entry);
  void link_batch(std::uint32_t index, std::int32_t rank, std::uint32_t entry);
  void turn_edges();
  std::optional<Batch> batch_of(std::int32_t rank, const Queued& queued) const;

  const FlightFleet& fleet_;
  std::vector<WaitNode> nodes_;
  std::vector<std::uint32_t> back_;      // nodes with an edge to a node, all in one row ...
  std::vector<std::size_t> back_first_;  // ... and where those of each node begin
  std::vector<std::int32_t> waiting_;
  std::vector<std::vector<std::int32_t>> waiters_;                // of each node
  std::unordered_map<std::int32_t, std::vector<Queued>> queues_;  // in the order of issue
  std::map<std::pair<std::int32_t, Batch>, std::uint32_t> batches_;
  std::map<std::int32_t, std::vector<std::uint32_t>> waits_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> collectives_;
  std::map<std::pair<WaitKind, std::int32_t>, std::uint32_t> rank_nodes_;
};

}  // namespace muster
