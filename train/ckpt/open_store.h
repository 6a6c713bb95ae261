#pragma once

#include <memory>

#include "train/ckpt/checkpoint_store.h"
#include "train/ckpt/save_disk.h"

namespace muster::train {

// CheckpointStore::open() on any disk, which outlives it.
Result<std::unique_ptr<CheckpointStore>> open_store(CheckpointOptions options,
                                                    std::unique_ptr<Communicator> comm,
                                                    SaveDisk& disk);

}  // namespace muster::train
