#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/ckpt/checkpoint_store.h"
#include "train/ckpt/save_disk.h"
#include "train/comm/communicator.h"
#include "train/fsdp/sharded_state.h"

namespace muster::train {

// What one rank saves, copied from the state: the run goes on changing its own. All the memory that
// a save needs is taken here, at once: a save that has begun does not fail for it.
class Snapshot {
 public:
  // Errc::exhausted, with the bytes, where the machine does not give them.
  static Result<Snapshot> of(const ShardedState& state, bool exact);

  const UnitPlan& plan() const { return plan_; }
  Dtype dtype() const { return dtype_; }
  std::uint64_t shard() const { return shard_; }
  std::uint64_t shards() const { return shards_; }

  // Of the exact state: all of a unit, its slices of kStateParts one after the other.
  std::string_view state_of(std::size_t unit) const;
  // The slice of a unit in bf16, at own().
  void to_bf16_slice(std::size_t unit) const;
  // Room for a slice in bf16, and for the whole unit.
  std::byte* own() const { return memory_.get() + own_at_; }
  std::byte* gathered() const { return memory_.get() + gathered_at_; }

 private:
  Snapshot(const ShardedState& state, bool exact);
  void copy(const ShardedState& state);

  UnitPlan plan_;
  Dtype dtype_;
  std::uint64_t shard_, shards_;
  bool exact_;
  std::vector<std::uint64_t> unit_at_;  // of each unit: its exact state, or its weights in bf16
  std::uint64_t own_at_ = 0, gathered_at_ = 0, bytes_ = 0;
  std::unique_ptr<std::byte[]> memory_;
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
