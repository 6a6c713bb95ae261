#pragma once

#include "core/site/site_text.h"

namespace muster {

// A table of test runs, by tabs, commas or '|'; its heading has a column of hosts and one of
// results. A column whose name speaks of a group (leaf, rack, rail, switch, pod, zone, block, su)
// is what the hosts hang on.
//
//   run  hosts       leaf_groups  result
//   a1   n01,n02     7,9          hang at first collective
//
// Failed is a result that speaks of hang, fail, error, crash, timeout or abort, and does not deny
// it in front ("no hang", "0 errors"). At most limits::kSiteHosts hosts a row.
void read_trials(SiteText& text);

}  // namespace muster
