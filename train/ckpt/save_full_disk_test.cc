#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/faulty_save_disk.h"
#include "tests/support/shell.h"
#include "train/ckpt/ckpt_test_kit.h"

// Machines without memory, and real file systems that are full, or cannot be written: made in a
// mount namespace that only a child of the test has.

namespace muster::train {
namespace {

constexpr int kCannotMount = 77;

// What the child found wrong, for the parent to tell.
int child(const std::string& place) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", place.c_str(), "tmpfs", 0, "size=400k") != 0) {
    return kCannotMount;
  }
  const UnitPlan plan(small_config());
  CheckpointOptions options;
  options.folder = place + "/run";
  options.file_bytes = 20'000;
  // Somebody else takes the room that was there when the save began.
  FaultySaveDisk disk(real_save_disk());
  disk.room_bytes = 1ull << 40;
  save_step(2, plan, Dtype::f32, options, disk, 1, 1);
  const auto fails = [&](Errc code) {
    with_ranks(2, plan, Dtype::f32, options, disk, [&](RankWork& work) {
      fill(work.state, 2);
      Status saved = work.store.save(work.state, cursor_of(2));
      if (saved) saved = work.store.finish();
      ASSERT_FALSE(saved);
      EXPECT_EQ(saved.error().code, code) << saved.error().context;
    });
  };
  const auto newest_is_one = [&] {
    with_ranks(2, plan, Dtype::f32, options, real_save_disk(), [&](RankWork& work) {
      const auto newest = work.store.newest();
      ASSERT_TRUE(newest && *newest);
      EXPECT_EQ(**newest, options.folder + "/step-1");
      const auto loaded = work.store.load(**newest, work.state);
      EXPECT_TRUE(loaded && loaded->cursor == cursor_of(1));
    });
  };
  fails(Errc::exhausted);
  EXPECT_FALSE(std::filesystem::exists(options.folder + "/.saving-step-2"));
  newest_is_one();
  // Nothing that is there is asked for, so an open store is told at its save.
  if (mount("none", place.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=400k") != 0) return 2;
  fails(Errc::permission);
  newest_is_one();
  return ::testing::Test::HasFailure() ? 1 : 0;
}

// Memory that the machine does not give is told before anything is written; with it the same save
// goes through.
int child_without_memory(const std::string& place) {
  Qwen3Config config = small_config();
  config.vocabulary = 100'000;  // a save holds 90 MB, more than an allocator has in reserve
  const UnitPlan plan(config);
  CheckpointOptions options;
  options.folder = place + "/run";
  FaultySaveDisk disk(real_save_disk());
  disk.syncs = false;
  with_ranks(1, plan, Dtype::f32, options, disk, [&](RankWork& work) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
    const rlimit before = limit;
    std::uint64_t pages = 0;
    ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
    constexpr std::uint64_t kSpareBytes = 12'000'000;
    limit.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + kSpareBytes;
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    const Status saved = work.store.save(work.state, cursor_of(1));
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, Errc::exhausted);
    EXPECT_NE(saved.error().context.find("no memory"), std::string::npos) << saved.error().context;
    EXPECT_TRUE(std::filesystem::is_empty(options.folder));
    EXPECT_TRUE(work.store.save(work.state, cursor_of(1)));
    EXPECT_TRUE(work.store.finish());
  });
  EXPECT_TRUE(std::filesystem::exists(options.folder + "/step-1"));
  return ::testing::Test::HasFailure() ? 1 : 0;
}

TEST(SaveFullDisk, MemoryThatIsNotThere) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has the whole address space";
#endif
  const testing_support::TemporaryFolder place;
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) _exit(child_without_memory(place.path()));
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SaveFullDisk, FullAndReadOnly) {
  const testing_support::TemporaryFolder place;
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) _exit(child(place.path()));
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannotMount) {
    GTEST_SKIP() << "no file system can be mounted here (not root?)";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace muster::train
