#include "edge/os/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace muster {
namespace {

struct TimeRow {
  const char* name;
  std::int64_t seconds;
  std::int64_t ns;  // as it is told
};

class FileTime : public testing::TestWithParam<TimeRow> {};

// A file system may hold other times than were set; then the row says nothing.
TEST_P(FileTime, IsWithinWhatNanosecondsHold) {
  const std::string path =
      (std::filesystem::temp_directory_path() / (std::string("muster_time_") + GetParam().name))
          .string();
  std::ofstream(path) << "x";
  const timespec times[] = {{GetParam().seconds, 0}, {GetParam().seconds, 0}};
  struct stat st{};
  const bool set = ::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0 &&
                   ::stat(path.c_str(), &st) == 0 && st.st_mtim.tv_sec == GetParam().seconds;
  const auto info = real_files().stat(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(info.has_value());
  if (!set) GTEST_SKIP() << "this file system does not hold the time";
  EXPECT_EQ(wall_to_ns(info->modified), GetParam().ns);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FileTime,
    testing::Values(TimeRow{"beyond_the_end", 12'000'000'000, 9'223'372'035'000'000'000},
                    TimeRow{"before_the_epoch", -5, -5'000'000'000},
                    TimeRow{"ordinary", 1'780'000'000, 1'780'000'000'000'000'000}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace muster
