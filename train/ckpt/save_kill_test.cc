#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "tests/support/faulty_save_disk.h"
#include "tests/support/shell.h"
#include "train/ckpt/ckpt_test_kit.h"
#include "train/comm/process_test_kit.h"

// Ranks as processes that save again and again; one of them is killed, -9, in the middle.

namespace muster::train {
namespace {

using testing_support::TemporaryFolder;

constexpr int kWorld = 2;

CheckpointOptions options_in(const std::string& folder) {
  CheckpointOptions options;
  options.folder = folder;
  options.file_bytes = 20'000;
  options.keep = 2;
  return options;
}

// One rank, from the step behind the newest on, until it is killed or alone.
int save_and_save(int rank, const std::string& token, const CheckpointOptions& options,
                  const UnitPlan& plan, std::uint64_t killed_at, RankReport& report) {
  auto world = join_host({rank, kWorld, token}, patient(60));
  if (!world) return 1;
  auto own = (*world)->split(0, "save");
  if (!own) return 2;
  FaultySaveDisk disk(real_save_disk());
  auto store = open_store(options, std::move(*own), disk);
  if (!store) return 3;
  ShardedState state(plan, Dtype::f32, static_cast<std::uint64_t>(rank), kWorld);
  const auto newest = (*store)->newest();
  if (!newest) return 4;
  std::uint64_t step = 0;
  if (*newest) {
    const auto loaded = (*store)->load(**newest, state);
    if (!loaded) return 5;
    step = loaded->cursor.step;
  }
  const std::uint64_t from = disk.calls();
  disk.before_call = [&disk, from, killed_at] {
    if (disk.calls() - from >= killed_at) raise(SIGKILL);
  };
  for (;;) {
    ++step;
    fill(state, step);
    Status saved = (*store)->save(state, cursor_of(step));
    if (saved) saved = (*store)->finish();
    // The other rank is gone: the launcher would end this one.
    if (!saved) return 0;
    report.progress = static_cast<int>(step);
  }
}

// The newest is whole, and no older than the last save that both ranks saw end.
std::uint64_t check_newest(const UnitPlan& plan, const CheckpointOptions& options, int least) {
  std::uint64_t step = 0;
  with_ranks(kWorld, plan, Dtype::f32, options, real_save_disk(), [&](RankWork& work) {
    const auto newest = work.store.newest();
    ASSERT_TRUE(newest) << newest.error().context;
    if (work.rank == 0) {
      for (const std::string& text : work.store.take_warnings()) ADD_FAILURE() << text;
    }
    if (!*newest) return;
    const auto loaded = work.store.load(**newest, work.state);
    ASSERT_TRUE(loaded);
    ShardedState expected(plan, Dtype::f32, work.state.shard, work.state.shards);
    fill(expected, loaded->cursor.step);
    EXPECT_TRUE(same_state(work.state, expected));
    if (work.rank == 0) step = loaded->cursor.step;
  });
  EXPECT_GE(step, static_cast<std::uint64_t>(least));
  for (const auto& entry : std::filesystem::directory_iterator(options.folder)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "latest" || name.starts_with("step-") || name.starts_with("latest."))
        << name;
  }
  return step;
}

TEST(SaveKill, TheNewestCompleteOneAlwaysLoads) {
  // ./run test slow sets it to 100.
  const char* const asked = std::getenv("MUSTER_SAVE_KILLS");
  const int trials = asked != nullptr ? std::atoi(asked) : 8;
  const UnitPlan plan(small_config());
  const TemporaryFolder place;
  const CheckpointOptions options = options_in(place.path() + "/run");
  std::mt19937_64 random(11);
  std::uint64_t step = 0;
  int killed = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const int victim = static_cast<int>(random() % kWorld);
    const std::uint64_t call = random() % 60;
    const std::string token = fresh_token();
    int told = 0;
    {
      RankProcesses ranks;
      for (int r = 0; r < kWorld; ++r) {
        ranks.start([&](int rank, RankReport& report) {
          return save_and_save(rank, token, options, plan, rank == victim ? call : 1 << 30, report);
        });
      }
      killed += ranks.wait(victim) == -1 ? 1 : 0;
      EXPECT_EQ(ranks.wait(1 - victim), 0) << trial;
      told = std::max(ranks.report(0).progress.load(), ranks.report(1).progress.load());
    }
    SCOPED_TRACE(trial);
    const std::uint64_t now = check_newest(plan, options, std::max(told, static_cast<int>(step)));
    EXPECT_GE(now, step);
    step = now;
  }
  EXPECT_EQ(killed, trials);
  EXPECT_GT(step, 0u);
}

}  // namespace
}  // namespace muster::train
