#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "core/storage/proc_text.h"
#include "core/storage/read_plan.h"
#include "edge/storage/disk.h"
#include "tests/support/shell.h"

namespace muster::storage {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

TEST(RealDisk, Open) {
  const TemporaryFolder folder;
  const std::string at = folder.path() + "/";
  run_shell("cd " + shell_word(folder.path()) +
            " && mkfifo pipe && truncate -s 1M holes && head -c 65536 /dev/urandom > whole");
  struct Row {
    std::string path;
    Errc code;
    const char* says;
  };
  const Row rows[] = {
      {at + "none", Errc::not_found, "No such file"},
      {at + "pipe", Errc::invalid_input, "neither a folder nor a regular file"},
      {at + "holes", Errc::invalid_input, "holes has holes (at byte 0)"},
      {folder.path(), Errc::invalid_input, "neither a folder nor a regular file"},
      {"/dev/null", Errc::invalid_input, "neither a folder nor a regular file"},
  };
  for (const Row& row : rows) {
    const auto file = real_disk().open(row.path);
    ASSERT_FALSE(file) << row.path;
    EXPECT_EQ(file.error().code, row.code) << file.error().context;
    EXPECT_NE(file.error().context.find(row.says), std::string::npos) << file.error().context;
  }
  const auto whole = real_disk().open(at + "whole");
  ASSERT_TRUE(whole) << whole.error().context;
  EXPECT_EQ((*whole)->bytes(), 65536U);
  EXPECT_FALSE((*whole)->compressed());
}

TEST(RealDisk, Place) {
  const TemporaryFolder folder;
  const Place place = real_disk().look(folder.path());
  EXPECT_EQ(place.path, folder.path());
  // In a chroot the root may be no mount of its own: the file system then has no name.
  const std::string mounts = run_shell("findmnt --noheadings --output FSTYPE --target " +
                                       shell_word(folder.path()) + " || true")
                                 .output;
  EXPECT_EQ(place.file_system, std::string(trim(mounts)));
  EXPECT_FALSE(place.kernel.empty());
  EXPECT_TRUE(place.memory_bytes);
  EXPECT_TRUE(place.available_bytes);
  EXPECT_TRUE(place.free_bytes);
  EXPECT_LE(*place.available_bytes, *place.memory_bytes);
}

// What mincore says follows what was read and dropped, where the file system has a device.
TEST(RealDisk, CacheIsDroppedAndFilled) {
  const TemporaryFolder folder;
  if (habit_of(real_disk().look(folder.path()).file_system).in_memory) {
    GTEST_SKIP() << "temporary files lie in memory here";
  }
  const std::uint64_t bytes = 8 * kBlockBytes;
  const auto file = real_disk().make(folder.path(), bytes, {}, [](std::uint64_t) {});
  ASSERT_TRUE(file) << file.error().context;
  auto queue = (*file)->open(false, 1);
  ASSERT_TRUE(queue) << queue.error().context;
  std::vector<ReadQueue::Done> done;
  for (std::uint64_t at = 0; at < bytes; at += kBlockBytes) {
    ASSERT_TRUE((*queue)->submit(0, at));
    ASSERT_TRUE((*queue)->wait(done));
  }
  EXPECT_DOUBLE_EQ((*file)->residency(bytes).value_or(-1), 1);
  ASSERT_TRUE((*file)->drop_cache());
  EXPECT_LT((*file)->residency(bytes).value_or(1), 0.01);
  EXPECT_DOUBLE_EQ((*file)->residency(0).value_or(-1), 0);
}

// Reads past the page cache leave nothing there, one at a time and deep.
TEST(RealDisk, DirectReadsAreDirect) {
  const TemporaryFolder folder;
  const std::uint64_t bytes = 8 * kBlockBytes;
  const auto file = real_disk().make(folder.path(), bytes, {}, [](std::uint64_t) {});
  ASSERT_TRUE(file) << file.error().context;
  for (const std::uint32_t depth : {1U, 8U}) {
    auto queue = (*file)->open(true, depth);
    if (!queue) {
      EXPECT_EQ(queue.error().code, Errc::unsupported);
      GTEST_SKIP() << queue.error().context;
    }
    if (habit_of(real_disk().look(folder.path()).file_system).in_memory) {
      GTEST_SKIP() << "temporary files lie in memory here";
    }
    std::vector<ReadQueue::Done> done;
    for (std::uint64_t at = 0; at < bytes; at += kBlockBytes) {
      ASSERT_TRUE((*queue)->submit(0, at));
      ASSERT_TRUE((*queue)->wait(done));
      EXPECT_EQ(done.back().result, static_cast<std::int64_t>(kBlockBytes));
    }
    EXPECT_LT((*file)->residency(bytes).value_or(1), 0.01) << depth;
  }
}

TEST(RealDisk, FoldersAndFiles) {
  const TemporaryFolder folder;
  const std::string file = folder.write("f", "x");
  EXPECT_TRUE(real_disk().is_folder(folder.path()).value_or(false));
  EXPECT_FALSE(real_disk().is_folder(file).value_or(true));
  EXPECT_FALSE(real_disk().is_folder(folder.path() + "/none"));
}

}  // namespace
}  // namespace muster::storage
