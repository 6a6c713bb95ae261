#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint_names.h"

namespace muster::checkpoint {

// A file or folder that was found, before anything of it was read.
struct FoundPath {
  std::string path;       // as the input writes it
  std::size_t below = 0;  // bytes of the path that was given; folders above are not looked at
  bool folder = false;    // only those that tell of a checkpoint without files need stand here
};

// Which paths make one checkpoint: those below a folder whose name tells a step, or that of a save
// under way; below a folder with weights, its parts (`optimizer_0`) with it; or a single file whose
// name tells a step. A folder in which other steps lie is a collection, whatever its name.
struct CheckpointGroup {
  std::string path;  // of several files of one step, one of each rank: with * for the rank
  std::string run;   // the folder that it lies in
  bool single_file = false;
  std::vector<std::size_t> members;  // places in the list of paths
};

struct CheckpointGroups {
  std::vector<CheckpointGroup> groups;  // in the order of their paths
  std::vector<std::size_t> trackers;    // beside checkpoints: `latest` and its kind
};
CheckpointGroups group_checkpoints(const std::vector<FoundPath>& paths);

}  // namespace muster::checkpoint
