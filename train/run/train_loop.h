#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/model/exit_status.h"
#include "train/ckpt/checkpoint_store.h"
#include "train/comm/communicator.h"
#include "train/comm/flight_recorder.h"
#include "train/data/block_source.h"
#include "train/fsdp/engine.h"
#include "train/optim/schedule.h"
#include "train/run/heartbeat_writer.h"
#include "train/run/run_output.h"
#include "train/run/save_schedule.h"
#include "train/run/slow_steps.h"

namespace muster::train {

// What the loop works with; all outlive it.
struct LoopParts {
  Communicator* world = nullptr;
  BlockSource* data = nullptr;
  Engine* engine = nullptr;
  ShardedState* state = nullptr;
  CheckpointStore* store = nullptr;
  bool saves = true;  // false: other ranks hold the same slices, and save them
  RunOutput* output = nullptr;
  HeartbeatWriter* heartbeat = nullptr;
  FlightRecorder* recorder = nullptr;
};

struct LoopPlan {
  CosineSchedule rate;
  SaveSchedule saves;  // with the steps of an epoch and of the run
  std::uint64_t step_tokens = 0;
  std::uint64_t most_skips = 5;
  double flops_per_token = 0;        // of the model, forward and backward
  std::optional<double> peak_flops;  // of one rank in a second
};

// Step after step until the target, a signal or a failure. Whatever ranks must do alike (save,
// leave, skip) is decided by numbers that all of them get, never by one alone.
class TrainLoop {
 public:
  TrainLoop(const LoopParts& parts, const LoopPlan& plan);

  // `cursor`: where to go on; where it stands at the end. ok: done; saved: left by a signal;
  // do_not_restart: no finite gradients. What an error means is told by where(), never by its code:
  // a disk may be unavailable as well as a rank.
  Result<ExitStatus> run(RunCursor& cursor);

  // Where the error came from that run() returned.
  enum class Where : std::uint8_t {
    steps,  // Errc::unavailable: of a collective; else this rank's computing
    data,   // of this rank: the others were told
    save    // all ranks were fine, know of it and leave alike
  };
  Where where() const { return where_; }

 private:
  class Phases;
  // What all ranks know of a step behind it.
  struct Agreed {
    bool stop = false;
    bool saving = false;  // somebody still writes the last checkpoint
    double step_s = 0;    // of the slowest rank
    std::vector<PhaseSeconds> ranks;
  };

  Result<StepResult> step(const RunCursor& cursor, Phases& phases);
  Result<Agreed> agree(const PhaseSeconds& own, double step_s);
  void tell(const RunCursor& cursor, const StepResult& result, const Agreed& agreed);
  Status save(const RunCursor& cursor);
  Status alike(const Status& own);
  Status finish_saves();
  void enter(RankPhase phase);

  LoopParts parts_;
  LoopPlan plan_;
  StepBlocks blocks_;
  SlowSteps slow_;
  std::optional<MonoTime> save_began_;
  std::uint64_t saved_step_ = 0;
  Where where_ = Where::steps;
};

}  // namespace muster::train
