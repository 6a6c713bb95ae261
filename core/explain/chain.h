#pragma once

#include "core/explain/claim.h"
#include "core/explain/waits.h"

namespace muster {

// The finding of a claim: its summary, and its evidence from the first cause to the last shout. For
// the answer (`first`) the shouts of the others are the end of the chain: what says the same on
// many ranks is one line of it, marked as a consequence, with how often; what could be a cause and
// is not certainly later stands "beside it".
Finding finding_of(const Scene& scene, const Claim& given, bool first);

}  // namespace muster
