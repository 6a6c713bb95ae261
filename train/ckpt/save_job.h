#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/ckpt/checkpoint_store.h"
#include "train/ckpt/save_disk.h"
#include "train/comm/communicator.h"
#include "train/fsdp/sharded_state.h"

namespace muster::train {

// What one rank saves, copied from the state: the run goes on changing its own.
struct Snapshot {
  Snapshot(const ShardedState& state, bool exact);

  UnitPlan plan;
  Dtype dtype;
  std::uint64_t shard, shards;
  std::vector<UnitShard> exact;       // of each unit; empty without the exact state
  std::vector<AlignedBytes> weights;  // slices in bf16, where the exact state is not saved

  // The slice of a unit in bf16, into `out`.
  void to_bf16_slice(std::size_t unit, std::byte* out) const;
};

// What a checkpoint has beside weights and state: configuration, tokenizer.
struct ModelFile {
  std::string name, bytes;
};
// As the options say: from the folder of the model, and the configuration where it has none.
Result<std::vector<ModelFile>> read_model_files(SaveDisk& disk, const CheckpointOptions& options);

struct SaveJob {
  CheckpointOptions options;
  RunCursor cursor;
  Snapshot snapshot;
  // Of rank 0:
  std::vector<ModelFile> model_files;
  std::set<std::uint64_t> unsound;  // steps of checkpoints that are damaged
};

// Bytes that a checkpoint will take, of all ranks.
std::uint64_t checkpoint_bytes(const UnitPlan& plan, Dtype dtype, std::uint64_t shards,
                               const CheckpointOptions& options);

// "step-500", and its name until all of it is written: ".saving-step-500".
std::string step_folder(std::uint64_t step);
std::string saving_folder(std::uint64_t step);
// "step-500.before-1": what had the name when the step was saved again.
std::string before_folder(const std::string& folder, int number);

// One outcome for all ranks: the failure of the first that has one. A rank that failed alone would
// leave the others waiting.
Status agree(Communicator& comm, const Status& mine);

// Writes a checkpoint, all ranks together, unit by unit through one buffer. When it fails nothing
// of it is left, with two exceptions: a rank died, then open() removes the rest; or it has its name
// already, and the disk does not promise that the name outlives a loss of power, then it stands.
// `warnings`: what went wrong after the checkpoint had its name.
Status write_checkpoint(SaveDisk& disk, Communicator& comm, const SaveJob& job,
                        std::vector<std::string>& warnings);

}  // namespace muster::train
