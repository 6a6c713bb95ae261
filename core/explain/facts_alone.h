#pragma once

#include <vector>

#include "core/explain/claim.h"

namespace muster {

// What facts of the site, or lines of no weight beside a cause, tell where nothing else does: jobs
// that the scheduler calls failed, full mounts, nodes that are down, GPUs that report errors of
// their memory or slow down from heat, a loss that is no number, the first process that ended.
// Added only where no claim of a warning or worse stands: beside a cause they are its surroundings.
void add_facts_alone(const Scene& scene, std::vector<Claim>& claims);

}  // namespace muster
