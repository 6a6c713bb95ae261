#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::train {

struct EventScalar {
  std::string_view tag;  // "train/loss"
  double value = 0;      // kept as a float
};

// Records of an event file of TensorBoard (core/progress/event_file.h says how they are framed),
// each whole: what a run that is killed has written stays readable.

// The first record of a file.
std::string event_file_head(WallTime at);
std::string event_record(WallTime at, std::uint64_t step, std::span<const EventScalar> scalars);

}  // namespace muster::train
