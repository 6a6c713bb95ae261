#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  FlightJudge(const FlightFleet& fleet, const WaitGraph& graph);

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
  std::optional<Suspicion> extra_call(const std::vector<std::uint32_t>& roots,
                                      const std::vector<std::int32_t>& idle);
  std::optional<std::size_t> odd_party(const WaitNode& node, std::string& why);
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
  std::unique_ptr<CallHistory> history_;  // made when a tie needs it
};

}  // namespace muster
