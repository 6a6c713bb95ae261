#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/flight/judge.h"
#include "core/flight/verdict.h"

namespace muster {

// "rank 3", "ranks 0-2,4-15"; "no rank" for none.
std::string describe_ranks(const std::vector<std::int32_t>& ranks);

// The ranks at collective `seq` of a group, as the first of them holds it.
FlightSide side_at(const FlightFleet& fleet, const std::vector<std::int32_t>& ranks,
                   std::uint32_t group, std::int64_t seq, std::string about);

// Whether it says why the rank failed, and not only that it waited or is away.
bool tells_a_cause(WitnessKind kind);

// A suspicion with everything that shows it: sides, times, second witnesses. A witness who tells
// why a culprit failed makes the answer surer.
FlightVerdict put_into_words(const Suspicion& suspicion, const FlightFleet& fleet,
                             const WaitGraph& graph, std::span<const RankWitness> witnesses);

}  // namespace muster
