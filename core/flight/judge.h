#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/flight/judge_evidence.h"

namespace muster {

// Reads the graph of waits: what does everybody wait for in the end?
class FlightJudge {
 public:
  explicit FlightJudge(const FlightEvidence& evidence)
      : evidence_(evidence), fleet_(evidence.fleet()), graph_(evidence.graph()) {}

  // Best first; the later ones explain ranks that the earlier ones do not.
  std::vector<Suspicion> judge();

 private:
  // Ends of the graph, by kind.
  void find_disagreements(std::vector<Suspicion>& out);
  void find_idle_ranks(std::vector<Suspicion>& out);
  void find_complete_calls(std::vector<Suspicion>& out);
  void find_missing_dumps(std::vector<Suspicion>& out);
  bool all_wait_for(const std::vector<std::int32_t>& missing) const;
  Suspicion judge_disagreement(std::uint32_t index);
  Suspicion judge_complete_call(std::uint32_t index);
  // What is known of a rank that waits for nothing while others wait for it.
  struct IdleRank {
    std::uint32_t node = 0;
    std::int32_t rank = 0;
    bool by_collective = false;  // something else than a message waits for it
    bool only_one_way = true;    // and only for a broadcast or the like
    bool only_strange = true;    // and only calls of a few that nobody else ever made
    bool never_in_group = true;  // it has issued nothing in the groups where others wait
    bool forgetful = false;      // its ring may have forgotten that it did
  };
  std::vector<IdleRank> idle_ranks();
  Suspicion judge_strange();
  Suspicion judge_idle(const std::vector<IdleRank>& idle);
  bool is_strange(const WaitNode& node);
  bool goes_on_beside(const WaitNode& node) const;
  bool waits_for_a_root(const WaitNode& node) const;
  struct Odd {
    std::optional<std::size_t> party;  // place in the node's parties
    Confidence confidence = Confidence::low;
    std::string why;
  };
  Odd odd_party(const WaitNode& node);
  using Votes = std::map<std::uint64_t, std::size_t>;  // of a call, by its key
  const Votes& votes_of_class(const WaitNode& node);
  bool members_may_be_missing(const WaitNode& node) const;

  const FlightEvidence& evidence_;
  const FlightFleet& fleet_;
  const WaitGraph& graph_;
  std::map<std::pair<std::uint64_t, std::int64_t>, Votes> votes_;  // by kind of group and number
};

}  // namespace muster
