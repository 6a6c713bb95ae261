#pragma once

#include <vector>

#include "core/flight/judge_evidence.h"

namespace muster {

// Messages of which both ends are posted and nothing before them is missing. Those that were issued
// as one batch stand or fall together: where they lie between more than two ranks, nobody can tell
// from the records which of them does not move, and nobody is named. Different sizes name the pair.
std::vector<Suspicion> stuck_messages(const FlightEvidence& evidence);

}  // namespace muster
