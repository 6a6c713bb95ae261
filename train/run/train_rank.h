#pragma once

#include "core/model/exit_status.h"
#include "train/run/launch.h"
#include "train/run/train_options.h"

namespace muster::train {

// One rank of a run from its first look at the files to its last word; complaints go to standard
// error. The status of the process.
ExitStatus run_rank(const TrainOptions& options, const LaunchPlace& place, const std::string& run,
                    std::int64_t attempt);

}  // namespace muster::train
