#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/flight/fleet.h"

// Who waits for whom. A node is something unfinished (a collective of a group, a message) or a rank
// that holds others up without waiting itself. An edge says: this cannot end before that, because
// of the rank that carries it.

namespace muster {

enum class WaitKind : std::uint8_t { collective, message, idle_rank, rank_without_dump };

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
  std::int32_t rank = 0;    // of a rank node

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
  // Every node from which a target can be reached, without the edges that `without` carries.
  std::vector<bool> reaching(const std::vector<std::uint32_t>& targets) const;
  // Whether, with the edges carried by `ranks` gone, no ring of waits is left.
  bool breaks_all_rings(const std::vector<std::int32_t>& ranks) const;
  // Nodes that lie on a ring of waits, or wait for nothing but rings.
  std::vector<bool> on_rings() const;

 private:
  std::uint32_t collective_node(std::uint32_t group, std::int64_t seq);
  std::uint32_t rank_node(WaitKind kind, std::int32_t rank);
  void fill_collective(WaitNode& node);
  void link_collective(std::uint32_t index);
  void link_message(std::uint32_t index);
  void link_absent(std::uint32_t index, std::int32_t rank);
  void link_older(std::uint32_t index, std::int32_t rank, std::uint32_t entry);

  const FlightFleet& fleet_;
  std::vector<WaitNode> nodes_;
  std::vector<std::int32_t> waiting_;
  std::map<std::int32_t, std::vector<std::uint32_t>> waits_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> collectives_;
  std::map<std::pair<WaitKind, std::int32_t>, std::uint32_t> rank_nodes_;
};

}  // namespace muster
