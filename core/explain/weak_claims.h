#pragma once

#include <vector>

#include "core/explain/claim.h"
#include "core/explain/waits.h"

namespace muster {

// What lines of other roles than root mean where they stand alone: clean-up of a cancelled job,
// noise of a driver (`ok`, and why), a state that only slows a run, errors that all name one peer,
// the end of a process of which nobody tells the reason. They accuse nobody: named parts are hints.
void add_weak_claims(const Scene& scene, const Waits& waits, std::vector<Claim>& claims);

}  // namespace muster
