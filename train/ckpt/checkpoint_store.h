#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/comm/communicator.h"
#include "train/fsdp/sharded_state.h"

namespace muster::train {

struct CheckpointOptions {
  std::string folder;        // of all checkpoints of a run: FOLDER/step-500
  std::string model_folder;  // whose config.json and tokenizer files go along; may be empty
  std::string config_json;   // written where there is no model_folder
  bool exact = true;         // the sharded state too; without it a resume begins with weights
  std::uint64_t keep = 0;    // newest to keep, up to the one just saved; 0: all
  std::uint64_t file_bytes = 5'000'000'000;  // of a weights file, about; whole units
};

struct LoadedRun {
  RunCursor cursor;
  bool moments = true;  // false: weights alone were saved; the updates of the moments begin anew
};

// Checkpoints of one run, as all ranks see them. Every call is made by all ranks, in the same
// order; only rank 0 looks at the folder, and tells the others. A checkpoint is there whole (its
// folder has its final name) or not at all.
class CheckpointStore {
 public:
  // `comm` is its own (Communicator::split): its calls come from a thread of the store. It joins
  // the ranks that hold one whole copy of the state, rank r its shard r; where replicas hold
  // others, each has a store and the first alone saves. Removes what killed saves left; reads what
  // goes along from the folder of the model, which no save needs then.
  static Result<std::unique_ptr<CheckpointStore>> open(CheckpointOptions options,
                                                       std::unique_ptr<Communicator> comm);
  virtual ~CheckpointStore() = default;

  // Copies what it needs, and writes behind the run's back. Until then each rank holds its slices
  // of what is saved once more, 12 bytes a parameter of its shard in f32 (2 without the exact
  // state), and the largest unit in bf16. Errc::exhausted, before anything is written, where there
  // is no room on the disk or in memory; a save that is still being written is waited for first,
  // and where it failed that is what is returned: this one is being written all the same.
  virtual Status save(const ShardedState& state, const RunCursor& cursor) = 0;
  // Until the last save is complete, or why it is not. The run goes on training meanwhile, so a
  // failed save is told here and by the next save, and the older checkpoints are left as they are.
  // What failed may stand all the same, whole, where the failure came after its last rename.
  virtual Status finish() = 0;
  virtual bool saving() const = 0;

  // The newest complete one, every byte of it held against the hashes of its manifest, by all ranks
  // together; nothing where there is none. What is damaged is passed over, with a warning.
  virtual Result<std::optional<std::string>> newest() = 0;
  // Whether any folder "step-N" is there, sound or not: where newest() has nothing and this is
  // true, all are damaged or foreign; where a run begins, it would mix with another.
  virtual Result<bool> has_steps() = 0;
  // Another number of shards than wrote it is fine. Weights alone leave moments of zero. Errc:
  // invalid_input: of another model; unsupported: of a run that computes in other numbers; corrupt,
  // not_found: damaged.
  virtual Result<LoadedRun> load(const std::string& checkpoint, ShardedState& state) = 0;

  // What went wrong without harm since the last call, for people: a checkpoint that newest() passed
  // over and why, an older one that could not be removed. Rank 0 has them all; not while saving().
  virtual std::vector<std::string> take_warnings() = 0;
};

// Weights of a Hugging Face folder (one file or several, tied or not) into the master slices: each
// rank reads its own ranges alone.
Status load_weights(const std::string& model_folder, ShardedState& state);

}  // namespace muster::train
