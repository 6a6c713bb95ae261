#pragma once

#include <optional>

#include "base/time.h"
#include "core/model/rank_witness.h"

// Whether a failure in a log belongs to the hang that the dumps show: logs of earlier attempts lie
// in the same folder, or in the same file.

namespace muster {

enum class FailureAge : std::uint8_t {
  fresh,     // about the time of the wait, after it, or at a time that is not told
  doubtful,  // before it by hours: of an earlier attempt, or in another zone than UTC
  stale,     // before it by so much that no zone explains it
};

// How long before the wait it was logged; negative: after its start, or not known.
Duration lead_of(const RankWitness& failure, std::optional<WallTime> waiting_since);
FailureAge failure_age(const RankWitness& failure, std::optional<WallTime> waiting_since);

}  // namespace muster
