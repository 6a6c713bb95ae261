#include "core/flight/failure_age.h"

#include <algorithm>

#include "base/limits.h"

namespace muster {

Duration lead_of(const RankWitness& failure, std::optional<WallTime> waiting_since) {
  if (!failure.at || !waiting_since) return Duration(-1);
  const auto lead = static_cast<double>(wall_to_ns(*waiting_since)) -
                    static_cast<double>(wall_to_ns(*failure.at));
  constexpr double kMost = 9e18;
  return Duration(static_cast<std::int64_t>(std::clamp(lead, -1.0, kMost)));
}

FailureAge failure_age(const RankWitness& failure, std::optional<WallTime> waiting_since) {
  const Duration lead = lead_of(failure, waiting_since);
  if (lead > limits::kFailureOld) return FailureAge::stale;
  return lead > limits::kFailureFresh ? FailureAge::doubtful : FailureAge::fresh;
}

}  // namespace muster
