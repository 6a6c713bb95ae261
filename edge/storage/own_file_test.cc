#include "edge/storage/own_file.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/support/shell.h"

namespace muster::storage {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

TEST(OwnFile, NoWordTwice) {
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> words(65536);
  for (std::uint64_t block = 0; block < 4; ++block) {
    fill_incompressible(words, block);
    seen.insert(words.begin(), words.end());
  }
  EXPECT_EQ(seen.size(), 4U * 65536);
}

TEST(OwnFile, Reserve) {
  constexpr std::uint64_t kGiB = 1024 * 1024 * 1024;
  EXPECT_EQ(reserve_bytes(4096 * kGiB), kGiB);
  EXPECT_EQ(reserve_bytes(10 * kGiB), kGiB / 2);
  EXPECT_EQ(reserve_bytes(0), 0U);
}

TEST(OwnFile, HasNoNameAndTheSizeAskedFor) {
  const TemporaryFolder folder;
  std::vector<std::uint64_t> told;
  const std::uint64_t bytes = 5 * 1024 * 1024 + 4096;
  const auto file =
      make_own_file(folder.path(), bytes, {}, [&](std::uint64_t n) { told.push_back(n); });
  ASSERT_TRUE(file) << file.error().context;
  EXPECT_EQ(run_shell("ls -A " + shell_word(folder.path())).output, "");
  EXPECT_EQ((*file)->bytes(), bytes);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), bytes);
  // Another program reads it by the path that is given, and finds nothing to compress.
  const auto packed = run_shell("gzip -1 < " + (*file)->path() + " | wc -c");
  EXPECT_GT(std::stoll(packed.output), static_cast<long long>(bytes));
}

TEST(OwnFile, Refused) {
  const TemporaryFolder folder;
  const auto nothing = [](std::uint64_t) {};
  const auto full = make_own_file(folder.path(), 1ULL << 60, {}, nothing);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Errc::exhausted);
  EXPECT_NE(full.error().context.find("a file of 1.15 EB would leave less than"), std::string::npos)
      << full.error().context;
  const auto gone = make_own_file(folder.path() + "/none", 4096, {}, nothing);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().context.find("No such file"), std::string::npos) << gone.error().context;
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = make_own_file(folder.path(), 4096, stop.get_token(), nothing);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().context, "stopped");
}

}  // namespace
}  // namespace muster::storage
