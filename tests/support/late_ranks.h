#pragma once

#include <memory>
#include <vector>

#include "train/comm/communicator.h"

namespace muster::testing_support {

// Ranks on threads whose calls happen as late as a caller may let them: in wait(), or in the next
// call that waits itself. Memory that is read or changed too early shows, every time.
std::vector<std::unique_ptr<train::Communicator>> make_late_ranks(int world);

}  // namespace muster::testing_support
