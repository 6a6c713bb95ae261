#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/flight/judge_evidence.h"

namespace muster {

// Who is to blame for waits that go in a ring: those without whose own waits no ring is left, of
// several the ones that never made such an order of calls before; else all of them, as a deadlock.
class RingJudge {
 public:
  explicit RingJudge(const FlightEvidence& evidence)
      : evidence_(evidence), fleet_(evidence.fleet()), graph_(evidence.graph()) {}

  // `unexplained`: waiting ranks that no end of the graph explains. Nothing: there is no ring.
  std::optional<Suspicion> judge(const std::vector<std::int32_t>& unexplained) const;

 private:
  std::vector<std::vector<std::int32_t>> ring_breakers(
      const std::vector<std::int32_t>& unexplained) const;
  std::optional<std::vector<std::int32_t>> crossed_sends(const std::vector<bool>& ring) const;
  void keep_the_novel(std::vector<std::vector<std::int32_t>>& breakers) const;
  bool is_novel(const std::vector<std::int32_t>& ranks) const;
  std::vector<std::uint32_t> ring_roots(const std::vector<bool>& ring,
                                        const std::vector<std::int32_t>& culprits) const;
  bool all_inside_launch(const std::vector<std::int32_t>& ranks) const;
  bool is_cut(const WaitNode& node) const;
  void name_the_breakers(bool lost, Suspicion& suspicion) const;

  const FlightEvidence& evidence_;
  const FlightFleet& fleet_;
  const WaitGraph& graph_;
};

}  // namespace muster
