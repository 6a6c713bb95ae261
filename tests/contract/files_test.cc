#include "edge/os/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/memory_files.h"

// One suite for every implementation of Files: what a test learns on memory holds on the machine.

namespace muster {
namespace {

struct Place {
  std::string folder;
  Files* files;
  std::shared_ptr<void> owner;
};

Place real_place() {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return {};
  auto remove = [](std::string* path) {
    std::filesystem::remove_all(*path);
    delete path;
  };
  return {pattern, &real_files(),
          std::shared_ptr<void>(std::shared_ptr<std::string>(new std::string(pattern), remove))};
}

Place memory_place() {
  auto files = std::make_shared<MemoryFiles>();
  files->add_folder("/data");
  return {"/data", files.get(), files};
}

struct Kind {
  const char* name;
  Place (*make)();
};

class FilesContract : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    place_ = GetParam().make();
    ASSERT_NE(place_.files, nullptr);
  }
  std::string in(const std::string& name) const { return place_.folder + "/" + name; }
  Files& files() { return *place_.files; }

 private:
  Place place_;
};

TEST_P(FilesContract, ReadsWhatWasWritten) {
  const std::string bytes("a\0b\n\xff", 5);
  ASSERT_TRUE(files().write_atomic(in("x"), bytes));
  EXPECT_EQ(read_whole(files(), in("x"), 100).value(), bytes);
  ASSERT_TRUE(files().write_atomic(in("x"), "new"));
  EXPECT_EQ(read_whole(files(), in("x"), 3).value(), "new");
  EXPECT_EQ(read_whole(files(), in("x"), 2).error().code, Errc::exhausted);
  ASSERT_TRUE(files().write_atomic(in("empty"), ""));
  EXPECT_EQ(read_whole(files(), in("empty"), 0).value(), "");
}

TEST_P(FilesContract, WritingLeavesNothingElseBehind) {
  ASSERT_TRUE(files().write_atomic(in("b"), "1"));
  ASSERT_TRUE(files().write_atomic(in("a"), "2"));
  ASSERT_TRUE(files().write_atomic(in("b"), "3"));
  EXPECT_EQ(files().list(in(".").substr(0, in(".").size() - 2)).value(),
            (std::vector<std::string>{"a", "b"}));
}

TEST_P(FilesContract, TellsFileFromFolder) {
  ASSERT_TRUE(files().write_atomic(in("x"), "12345"));
  const auto file = files().stat(in("x"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->type, FileInfo::Type::file);
  EXPECT_EQ(file->bytes, 5U);
  const std::string folder = in("").substr(0, in("").size() - 1);
  EXPECT_EQ(files().stat(folder).value().type, FileInfo::Type::folder);
  EXPECT_EQ(files().open(folder).error().code, Errc::invalid_input);
  EXPECT_FALSE(files().write_atomic(folder, "x"));
  EXPECT_EQ(files().list(in("x")).error().code, Errc::not_found);
}

TEST_P(FilesContract, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(files().open(in("no")).error().code, Errc::not_found);
  EXPECT_EQ(files().stat(in("no")).error().code, Errc::not_found);
  EXPECT_EQ(files().list(in("no")).error().code, Errc::not_found);
  EXPECT_EQ(files().write_atomic(in("no/x"), "x").error().code, Errc::not_found);
  EXPECT_NE(files().open(in("no")).error().context.find(in("no")), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, FilesContract,
                         testing::Values(Kind{"real", real_place}, Kind{"memory", memory_place}),
                         [](const auto& row) { return row.param.name; });

TEST(MemoryFiles, RecordsWhatWasOpened) {
  MemoryFiles files;
  files.add("/a", "1");
  EXPECT_TRUE(files.open("/a"));
  EXPECT_FALSE(files.open("/b"));
  EXPECT_EQ(files.opened(), (std::vector<std::string>{"/a", "/b"}));
}

}  // namespace
}  // namespace muster
