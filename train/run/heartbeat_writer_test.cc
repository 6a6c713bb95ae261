#include "train/run/heartbeat_writer.h"

#include <gtest/gtest.h>

#include "tests/support/shell.h"

namespace muster::train {
namespace {

TEST(HeartbeatWriter, LastWordIsWritten) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.path() + "/rank-3";
  Heartbeat first;
  first.rank = 3;
  first.attempt = 2;
  {
    HeartbeatWriter writer(real_files(), path, first);
    writer.set_target(500);
    writer.step_done(120, 983'040, 2.25);
    writer.set_phase(RankPhase::done);
  }
  const auto read = decode_heartbeat(testing_support::file_text(path));
  ASSERT_TRUE(read) << read.error().context;
  EXPECT_EQ(read->rank, 3);
  EXPECT_EQ(read->attempt, 2);
  EXPECT_EQ(read->step, 120);
  EXPECT_EQ(read->target_step, 500);
  EXPECT_EQ(read->phase, RankPhase::done);
  EXPECT_EQ(read->tokens, 983'040);
  EXPECT_EQ(read->loss, 2.25);
  EXPECT_GT(read->wall_ms, 1'700'000'000'000);
}

TEST(HeartbeatWriter, AFolderThatIsNotThereEndsNothing) {
  HeartbeatWriter writer(real_files(), "/nowhere/at/all/rank-0", Heartbeat{});
  writer.set_phase(RankPhase::data);
}

}  // namespace
}  // namespace muster::train
