#include "train/run/train_loop.h"

#include <gtest/gtest.h>

#include "tests/support/shell.h"
#include "train/comm/join.h"

namespace muster::train {
namespace {

// Of a disk that fails with the code that a lost rank gives.
class FailingBlocks final : public BlockSource {
 public:
  explicit FailingBlocks(Errc code) : code_(code) {}
  std::uint64_t block_tokens() const override { return 8; }
  std::uint64_t blocks() const override { return 4; }
  std::uint64_t steps() const override { return 4; }
  bool shared() const override { return true; }
  std::uint64_t digest() const override { return 1; }
  Status read(std::uint64_t /*epoch*/, std::uint64_t /*step*/, StepBlocks& /*out*/) override {
    return make_error(code_, "reading blocks: Input/output error");
  }

 private:
  Errc code_;
};

TEST(TrainLoop, DataThatCannotBeReadIsNoRankThatIsGone) {
  for (const Errc code : {Errc::unavailable, Errc::corrupt}) {
    const testing_support::TemporaryFolder folder;
    const auto world = join_threads(1, {CommOptions{}});
    const auto recorder = FlightRecorder::in_memory({});
    HeartbeatWriter heartbeat(real_files(), folder.path() + "/rank-0", Heartbeat{});
    FailingBlocks data(code);
    LoopParts parts;
    parts.world = world.front().get();
    parts.data = &data;
    parts.heartbeat = &heartbeat;
    parts.recorder = recorder.get();
    LoopPlan plan;
    plan.saves = {.every = 0, .epoch_steps = 4, .target_step = 4};
    TrainLoop loop(parts, plan);
    RunCursor cursor;
    const auto ended = loop.run(cursor);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, code);
    EXPECT_EQ(loop.where(), TrainLoop::Where::data);
    EXPECT_EQ(cursor.step, 0U);
    // The others do not wait for it.
    ASSERT_TRUE(parts.world->failure());
    EXPECT_EQ(parts.world->failure()->text, "rank 0: reading blocks: Input/output error");
  }
}

}  // namespace
}  // namespace muster::train
