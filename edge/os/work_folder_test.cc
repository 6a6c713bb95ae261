#include "edge/os/work_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::TemporaryFolder;

TEST(WorkFolder, WhatIsThereIsNotMadeAgain) {
  const TemporaryFolder place;
  place.write("x.part", "a file");
  EXPECT_EQ(real_work_folders().make(place.path() + "/x.part").error().code, Errc::invalid_input);
  EXPECT_EQ(real_work_folders().make(place.path()).error().code, Errc::invalid_input);
  EXPECT_EQ(real_work_folders().make(place.path() + "/no/x").error().code, Errc::not_found);
  EXPECT_EQ(real_work_folders().take(place.path() + "/no").error().code, Errc::not_found);
}

TEST(WorkFolder, OneProcessHasIt) {
  const TemporaryFolder place;
  const std::string path = place.path() + "/x.part";
  auto first = real_work_folders().make(path);
  ASSERT_TRUE(first);
  EXPECT_EQ(real_work_folders().take(path).error().code, Errc::unavailable);
  first->reset();
  EXPECT_TRUE(real_work_folders().take(path));
}

TEST(WorkFolder, FilesGrowAndAreCut) {
  const TemporaryFolder place;
  auto folder = real_work_folders().make(place.path() + "/x.part");
  ASSERT_TRUE(folder);
  EXPECT_FALSE((*folder)->has("a"));
  {
    auto file = (*folder)->open("a");
    ASSERT_TRUE(file && (*file)->append("hello ") && (*file)->append("world") && (*file)->sync());
    EXPECT_EQ((*file)->cut(12).error().code, Errc::corrupt);
    EXPECT_TRUE((*file)->cut(7));
    EXPECT_TRUE((*file)->append("ho"));
  }
  auto file = (*folder)->open("a");
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->bytes(), 9U);
  std::string buffer(100, ' ');
  EXPECT_EQ(*(*file)->read(3, buffer), 6U);
  EXPECT_EQ(buffer.substr(0, 6), "lo who");
  EXPECT_EQ(*(*file)->read(9, buffer), 0U);
  EXPECT_TRUE((*folder)->has("a"));
  EXPECT_TRUE((*folder)->remove("a"));
  EXPECT_TRUE((*folder)->remove("a"));
  EXPECT_FALSE((*folder)->has("a"));
}

TEST(WorkFolder, IsPublishedAtOnceAndReplacesNothing) {
  const TemporaryFolder place;
  auto folder = real_work_folders().make(place.path() + "/x.part");
  ASSERT_TRUE(folder);
  ASSERT_TRUE((*folder)->write_whole("manifest.json", "old"));
  ASSERT_TRUE((*folder)->write_whole("manifest.json", "{}"));
  ASSERT_EQ(::mkdir((place.path() + "/x").c_str(), 0755), 0);
  EXPECT_EQ((*folder)->publish(place.path() + "/x").error().code, Errc::invalid_input);
  EXPECT_TRUE((*folder)->publish(place.path() + "/y"));
  EXPECT_EQ(file_text(place.path() + "/y/manifest.json"), "{}");
  struct stat st{};
  EXPECT_NE(::stat((place.path() + "/x.part").c_str(), &st), 0);
  EXPECT_NE(::stat((place.path() + "/y/lock").c_str(), &st), 0);
  EXPECT_NE(::stat((place.path() + "/y/manifest.json.new").c_str(), &st), 0);
}

TEST(WorkFolder, IsDiscardedWithWhatItMade) {
  const TemporaryFolder place;
  const std::string path = place.path() + "/x.part";
  auto folder = real_work_folders().make(path);
  ASSERT_TRUE(folder && (*folder)->open("a") && (*folder)->write_whole("b", "b"));
  place.write("x.part/of_others", "");
  EXPECT_FALSE((*folder)->discard());
  struct stat st{};
  EXPECT_EQ(::stat((path + "/of_others").c_str(), &st), 0);
  EXPECT_NE(::stat((path + "/a").c_str(), &st), 0);
  auto again = real_work_folders().take(path);
  ASSERT_TRUE(again && (*again)->remove("of_others"));
  EXPECT_TRUE((*again)->discard());
  EXPECT_NE(::stat(path.c_str(), &st), 0);
}

}  // namespace
}  // namespace muster
