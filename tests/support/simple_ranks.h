#pragma once

#include <memory>
#include <vector>

#include "train/comm/communicator.h"

namespace muster::testing_support {

// Ranks on threads that wait for each other in every call.
std::vector<std::unique_ptr<train::Communicator>> make_simple_ranks(int world);

}  // namespace muster::testing_support
