#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/flight/call_history.h"
#include "core/flight/fleet.h"
#include "core/flight/verdict.h"
#include "core/flight/wait_graph.h"

namespace muster {

// One reading of the waits: these ranks, for that reason.
struct Suspicion {
  FlightVerdictKind kind = FlightVerdictKind::undecided;
  Confidence confidence = Confidence::low;
  std::vector<std::int32_t> culprits;  // sorted
  std::vector<std::uint32_t> roots;    // nodes of the graph; the first is shown
  std::size_t explained = 0;           // waiting ranks that reach a root
  std::string why;
};

// Reads the graph of waits: what does everybody wait for in the end?
class FlightJudge {
 public:
  FlightJudge(const FlightFleet& fleet, const WaitGraph& graph,
              std::span<const RankWitness> witnesses);

  // Best first; the later ones explain ranks that the earlier ones do not.
  std::vector<Suspicion> judge();

 private:
  // Ends of the graph, by kind.
  void find_disagreements(std::vector<Suspicion>& out);
  void find_idle_ranks(std::vector<Suspicion>& out);
  void find_complete_calls(std::vector<Suspicion>& out);
  void find_stuck_messages(std::vector<Suspicion>& out);
  void find_missing_dumps(std::vector<Suspicion>& out);
  // What no end explains goes in a ring.
  std::optional<Suspicion> judge_ring(const std::vector<std::int32_t>& unexplained);
  Suspicion judge_disagreement(std::uint32_t index);
  Suspicion judge_complete_call(std::uint32_t index);
  // What is known of a rank that waits for nothing while others wait for it.
  struct IdleRank {
    std::uint32_t node = 0;
    std::int32_t rank = 0;
    bool by_collective = false;  // something else than a message waits for it
    bool only_strange = true;    // and only calls of a few that nobody else ever made
    bool never_in_group = true;  // it has issued nothing in the groups where others wait
    bool forgetful = false;      // its ring may have forgotten that it did
  };
  std::vector<IdleRank> idle_ranks();
  Suspicion judge_strange();
  Suspicion judge_idle(const std::vector<IdleRank>& idle);
  bool is_strange(const WaitNode& node);
  // Somebody has waited as long as its time-out, by the dumps or by a log.
  bool somebody_overdue() const;
  // Age of the oldest wait when its dump was written; nothing where that is not known.
  std::optional<std::int64_t> longest_wait_ns() const;
  // The others went on after the call in which this rank still waits.
  bool others_went_on(const WaitNode& node) const;
  struct Odd {
    std::optional<std::size_t> party;  // place in the node's parties
    Confidence confidence = Confidence::low;
    std::string why;
  };
  Odd odd_party(const WaitNode& node);
  std::vector<std::vector<std::int32_t>> ring_breakers(
      const std::vector<std::int32_t>& unexplained) const;
  std::optional<std::vector<std::int32_t>> crossed_sends(const std::vector<bool>& ring) const;
  void keep_the_novel(std::vector<std::vector<std::int32_t>>& breakers);
  std::vector<std::uint32_t> ring_roots(const std::vector<bool>& ring,
                                        const std::vector<std::int32_t>& culprits) const;
  FlightVerdictKind kind_of_odd(const WaitNode& node, const std::vector<std::int32_t>& ranks);
  bool others_call_comes_next(const WaitNode& node, const FlightRank& rank) const;
  bool is_of_its_own(const WaitNode& node, const CallParty& party, std::size_t member) const;
  bool all_inside_launch(const std::vector<std::int32_t>& ranks) const;
  bool somebody_is(FlightStatus status) const;
  bool members_may_be_missing(const WaitNode& node) const;
  bool older_than_its_peers(std::int32_t rank) const;

  std::vector<std::int32_t> explained_by(const std::vector<std::uint32_t>& roots) const;
  // The record of what came first is lost: nothing can be said of who.
  bool forgotten(const WaitNode& node) const;
  static void give_up(Suspicion& suspicion);
  void weigh(Suspicion& suspicion) const;
  const CallHistory& history();

  const FlightFleet& fleet_;
  const WaitGraph& graph_;
  std::span<const RankWitness> witnesses_;
  std::unique_ptr<CallHistory> history_;  // made when a tie needs it
};

}  // namespace muster
