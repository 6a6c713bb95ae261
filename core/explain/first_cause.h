#pragma once

#include <vector>

#include "core/explain/claim.h"
#include "core/explain/waits.h"

namespace muster {

// The claims that stand, the answer first. What is left out is a consequence of the answer.
//
// Can stop a run: a warning or worse whose layer is no slower than a wait, and a stop from outside.
// Of these, one that is certainly before all others is the answer. It is not, where
//  - ranks had given up waiting long before it (kLate): it came of the end of the run; parts of the
//    hardware alone are often noticed late;
//  - the run went on behind it (steps, or a restart, kWentOn later) and another one stands; where
//    none does, it is only worth knowing (`info`);
//  - ranks still began collectives long after it (kWorkedOn): what they waited for is another
//  thing;
//  - a deeper layer shows on the same host or rank within kTogether: kernels note late what
//  programs
//    feel at once.
// Errors that name a peer and come well before it leave it a hint.
// A fault of a GPU whose log has no clock to compare with is the answer, at medium confidence, only
// where the program speaks of its GPU or the fault names its process; else the program's own line.
// Where clocks do not tell who was first, the deeper layer is the answer at medium confidence; two
// of one layer on different hosts are undetermined: both are named, at low confidence.
// Without any of these, what waits mean, then what is slow, then what is only worth knowing.
std::vector<Claim> order_claims(const Scene& scene, const Waits& waits, std::vector<Claim> claims);

// Takes out the claims of what is older than the run (Claim::before), as hints for a second look.
std::vector<Claim> take_old(std::vector<Claim>& claims);

}  // namespace muster
