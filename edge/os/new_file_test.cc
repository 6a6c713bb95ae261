#include "edge/os/new_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "edge/os/files.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

std::size_t names_in(const TemporaryFolder& folder) {
  return real_files().list(folder.path())->size();
}

TEST(NewFile, ATakenNameStaysAsItIs) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", "old");
  EXPECT_EQ(NewFile::begin(path).error().code, Errc::invalid_input);
  EXPECT_EQ(open_work_file(path, true).error().code, Errc::invalid_input);
  ASSERT_EQ(::symlink("nowhere", (folder.path() + "/link").c_str()), 0);
  EXPECT_FALSE(NewFile::begin(folder.path() + "/link"));
  EXPECT_FALSE(open_work_file(folder.path() + "/link", false)) << "a link is not followed";
  ASSERT_EQ(::mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(open_work_file(folder.path() + "/pipe", false).error().code, Errc::invalid_input);
  EXPECT_EQ(NewFile::begin("").error().code, Errc::invalid_input);
  EXPECT_EQ(NewFile::begin(folder.path() + "/no/x").error().code, Errc::not_found);
  EXPECT_EQ(file_text(path), "old");
}

TEST(NewFile, AppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  {
    auto dropped = NewFile::begin(path);
    ASSERT_TRUE(dropped && dropped->append("x"));
    EXPECT_EQ(names_in(folder), 1U);
  }
  EXPECT_EQ(names_in(folder), 0U) << "nobody kept it";
  auto first = NewFile::begin(path), late = NewFile::begin(path);
  ASSERT_TRUE(first && late);
  std::string whole;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(250'000, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(first->append(piece));
    whole += piece;
  }
  EXPECT_FALSE(real_files().stat(path));
  ASSERT_TRUE(first->keep());
  EXPECT_EQ(file_text(path), whole);
  const Status second = late->keep();
  ASSERT_FALSE(second) << "the other was first";
  EXPECT_EQ(second.error().code, Errc::invalid_input);
  EXPECT_EQ(file_text(path), whole);
}

}  // namespace
}  // namespace muster
