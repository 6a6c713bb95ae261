#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/checkpoint/checkpoint_report.h"
#include "edge/os/files.h"

namespace muster {

struct CheckpointRequest {
  // Folders of checkpoints, checkpoints, single files of weights, listings of folders (ls -lR,
  // find -ls), logs of the run; in any mixture.
  std::vector<std::string> paths;
  std::vector<std::string> suspects;  // passed over: paths, names or steps
  bool deep = false;                  // every byte of our own, against the hashes of the manifest
  std::optional<WallTime> now;
};

// Looks at names, sizes, heads and ends of files, and writes nothing. Links to files are followed,
// those to folders are not. What could not be read is blind in the report. Fails only where nothing
// at all could be looked at.
Result<checkpoint::CheckpointAnswer> check_checkpoints(const CheckpointRequest& request,
                                                       Files& files);

}  // namespace muster
