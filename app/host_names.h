#pragma once

#include <string>
#include <vector>

namespace muster {

// Hosts for inputs that name none, although they come from several: what tells their paths apart,
// in the order of `paths`. File names up to their first dot ("n1.csv", "n2.csv": n1, n2); where two
// of those are alike, folders ("n1/gpus.csv", "n2/gpus.csv": n1, n2), then both, then the paths.
std::vector<std::string> host_names(const std::vector<std::string>& paths);

}  // namespace muster
