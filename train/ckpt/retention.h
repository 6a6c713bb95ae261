#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/checkpoint/checkpoint_manifest.h"
#include "train/ckpt/checkpoint_store.h"
#include "train/ckpt/save_disk.h"

// Rank 0's view of the folder of a run.

namespace muster::train {

// Steps of the folders "step-N", the newest first; none where the folder is not there.
Result<std::vector<std::uint64_t>> saved_steps(SaveDisk& disk, const std::string& folder);

// The manifest of a checkpoint. Errc::not_found where it has none: a foreign folder, or not whole.
Result<checkpoint::CheckpointManifest> read_manifest(SaveDisk& disk, const std::string& checkpoint);

// What killed saves and removals left, under the names that only those have. A save that was killed
// while it took the name of an older one, and had its manifest, is given the name.
Status remove_leftovers(SaveDisk& disk, const std::string& folder);

// `latest` names the step that was just saved, and of it and the steps below it what is older than
// the newest `keep` goes. Only whole checkpoints of ours count and go, with a manifest and files of
// the sizes in it, and none of `unsound`, whose bytes were found to be others; the one just saved
// never goes. A failure is a warning: the checkpoint is there.
void after_commit(SaveDisk& disk, const CheckpointOptions& options, std::uint64_t step,
                  const std::set<std::uint64_t>& unsound, std::vector<std::string>& warnings);

}  // namespace muster::train
