#include "edge/os/home.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "edge/os/files.h"
#include "tests/support/fake_environment.h"

namespace muster {
namespace {

TEST(HomePath, FromTheEnvironment) {
  struct Row {
    const char* name;
    std::map<std::string, std::string> environment;
    std::string path;  // empty: refused
    std::string configured = "";
  };
  const Row rows[] = {
      {"its own", {{"MUSTER_HOME", "/m"}, {"HOME", "/h"}}, "/m"},
      {"default", {{"HOME", "/h"}}, "/h/.local/state/muster"},
      {"empty is not set", {{"MUSTER_HOME", ""}, {"HOME", "/h"}}, "/h/.local/state/muster"},
      {"configured", {{"HOME", "/h"}}, "/c", "/c"},
      {"configured, no home", {}, "/c", "/c"},
      {"the environment goes before", {{"MUSTER_HOME", "/m"}}, "/m", "/c"},
      {"configured, not absolute", {{"HOME", "/h"}}, "", "c"},
      {"nothing", {}, ""},
      {"empty home", {{"HOME", ""}}, ""},
      {"relative", {{"MUSTER_HOME", "m"}, {"HOME", "/h"}}, ""},
      {"tilde", {{"MUSTER_HOME", "~/m"}, {"HOME", "/h"}}, ""},
      {"relative home", {{"HOME", "h"}}, ""}};
  for (const Row& row : rows) {
    const auto path = home_path(FakeEnvironment(row.environment), row.configured);
    EXPECT_EQ(path ? *path : "", row.path) << row.name;
    if (!path) {
      EXPECT_EQ(path.error().code, Errc::invalid_input) << row.name;
    }
  }
}

class OpenHome : public testing::Test {
 protected:
  void SetUp() override {
    root_ = (std::filesystem::temp_directory_path() / "muster.XXXXXX").string();
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  Result<std::string> open(const std::string& path) {
    return open_home(FakeEnvironment({{"MUSTER_HOME", path}}));
  }
  std::string root_;
};

TEST_F(OpenHome, MakesItForTheUserAlone) {
  const std::string path = root_ + "/a/b";
  ASSERT_EQ(open(path).value(), path);
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
  EXPECT_TRUE(open(path));
  EXPECT_TRUE(open(path + "/"));
}

TEST_F(OpenHome, RefusesWhatOthersCanWriteAndSaysTheRepair) {
  const std::string path = root_ + "/a";
  for (const mode_t mode : {0720U, 0702U, 0777U}) {
    ASSERT_TRUE(open(path));
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto home = open(path);
    ASSERT_FALSE(home) << mode;
    EXPECT_EQ(home.error().code, Errc::permission);
    EXPECT_NE(home.error().context.find("chmod 700 '" + path + "'"), std::string::npos);
    ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
    EXPECT_TRUE(open(path));
  }
}

TEST_F(OpenHome, RefusesAFileInItsPlace) {
  const std::string path = root_ + "/file";
  ASSERT_TRUE(real_files().write_atomic(path, "x"));
  EXPECT_EQ(open(path).error().code, Errc::invalid_input);
  EXPECT_FALSE(open(path + "/below"));
}

}  // namespace
}  // namespace muster
