#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
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

// What the judges ask of the dumps, the graph of waits and the logs together.
class FlightEvidence {
 public:
  FlightEvidence(const FlightFleet& fleet, const WaitGraph& graph,
                 std::span<const RankWitness> witnesses, bool logs_given);

  const FlightFleet& fleet() const { return fleet_; }
  const WaitGraph& graph() const { return graph_; }
  // Made when the first tie needs it.
  const CallHistory& history() const;
  // Logs of the ranks were read: what they did not tell they will not.
  bool logs_given() const { return logs_given_; }

  // Waiting ranks from which one of these nodes is reached, sorted.
  std::vector<std::int32_t> explained_by(const std::vector<std::uint32_t>& roots) const;
  // Counts them, and makes a sure answer less so where it leaves ranks unexplained, dumps are
  // missing, or numbers or times do not allow to be sure.
  void weigh(Suspicion& suspicion) const;
  // The record of what came first is lost: nothing can be said of who.
  bool forgotten(const WaitNode& node) const;
  bool somebody_is(FlightStatus status) const;
  // Somebody has waited as long as its time-out, by the dumps or by a log.
  bool somebody_overdue() const;
  // Age of the oldest wait when its dump was written; nothing where that is not known.
  std::optional<std::int64_t> longest_wait_ns() const;
  // The others went on after the call in which this rank still waits.
  bool others_went_on(const WaitNode& node) const;
  // Others completed what this rank never issued: its dump was written before theirs.
  bool older_than_its_peers(std::int32_t rank) const;

 private:
  const FlightFleet& fleet_;
  const WaitGraph& graph_;
  std::span<const RankWitness> witnesses_;
  bool logs_given_;
  // Highest numbers of a group's synchronising collectives that any member finished.
  struct Progress {
    std::int64_t done = INT64_MIN, timed_out = INT64_MIN;
    std::int64_t done_by_event =
        INT64_MIN;  // and not told by retirement, which an error brings too
  };
  const Progress& progress(std::uint32_t group) const;
  // Whether all dumps are of one moment, as far as can be seen: nobody completed what another, who
  // waits, had not come to, and nobody who waits was at work when others had long been silent.
  bool of_one_moment() const;
  bool look_apart() const;
  void doubt(Suspicion& suspicion) const;
  // Whether anything unfinished tells when it was issued.
  bool tells_times() const;
  // Whether equal numbers mean the same call in the groups of these nodes; of ranks, in all groups
  // that they call in.
  bool numbers_fit(const std::vector<std::uint32_t>& nodes) const;
  // Whether a message of these nodes has an end in a dump of the unfinished only.
  bool by_filtered_batches(const std::vector<std::uint32_t>& nodes) const;
  bool group_fits(std::uint32_t group) const;

  mutable std::unique_ptr<CallHistory> history_;
  mutable std::unordered_map<std::uint32_t, Progress> progress_;
  mutable std::optional<bool> one_moment_;
  mutable std::unordered_map<std::uint32_t, bool> fits_;  // by group, where it was asked
};

// The rings have forgotten what came first: names nobody.
void give_up(Suspicion& suspicion);

// The record of a call is written before it and the status of the group raised after it: whether
// `entry`, the newest of its lane, is a call from which the thread has not come back.
bool inside_launch(const FlightRank& rank, const FlightLane& lane, std::uint32_t entry);

// Sorted sets of ranks.
std::vector<std::int32_t> merged(const std::vector<std::int32_t>& a,
                                 const std::vector<std::int32_t>& b);
inline bool is_minority(std::size_t part, std::size_t whole) {
  return part * 2 < whole;
}

}  // namespace muster
