#include "edge/os/data_file.h"

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

TEST(DataFile, ReadsAndWritesAnywhere) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/data";
  {
    auto writer = DataWriter::create(path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write_at(4, "5678"));
    ASSERT_TRUE(writer->write_at(0, "1234"));
    ASSERT_TRUE(writer->sync());
  }
  const auto reader = DataReader::open(path);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->bytes(), 8U);
  std::string out(3, ' ');
  ASSERT_TRUE(reader->read_at(3, out));
  EXPECT_EQ(out, "456");
  ASSERT_TRUE(reader->read_at(8, std::span<char>()));
  const Status beyond = reader->read_at(6, out);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, Errc::corrupt);
}

TEST(DataFile, WhatIsNoFileIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string none = folder.path() + "/none";
  EXPECT_EQ(DataReader::open(none).error().code, Errc::not_found);
  EXPECT_EQ(DataReader::open(folder.path()).error().code, Errc::invalid_input);
  EXPECT_EQ(DataReader::open(pipe).error().code, Errc::invalid_input);
}

TEST(DataFile, ATakenNameStaysAsItIs) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/data";
  ASSERT_TRUE(real_files().write_atomic(path, "old"));
  EXPECT_EQ(DataWriter::create(path).error().code, Errc::invalid_input);
  for (const auto kind : {NewPath::Kind::file, NewPath::Kind::folder}) {
    EXPECT_EQ(NewPath::begin(path, kind).error().code, Errc::invalid_input);
  }
  ASSERT_EQ(::symlink("nowhere", (folder.path() + "/link").c_str()), 0);
  EXPECT_FALSE(NewPath::begin(folder.path() + "/link", NewPath::Kind::file));
  EXPECT_EQ(file_text(path), "old");
}

TEST(NewPath, AppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const auto names = [&] { return real_files().list(folder.path())->size(); };
  const auto write = [](const std::string& path) {
    auto writer = DataWriter::create(path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write_at(0, "new"));
  };
  const std::string file = folder.path() + "/file", sub = folder.path() + "/sub";
  {
    auto a = NewPath::begin(file, NewPath::Kind::file);
    auto b = NewPath::begin(sub + "/", NewPath::Kind::folder);
    ASSERT_TRUE(a && b);
    write(a->place());
    write(b->place() + "/x");
    EXPECT_EQ(names(), 2U);
  }
  EXPECT_EQ(names(), 0U) << "nobody kept them";
  auto a = NewPath::begin(file, NewPath::Kind::file);
  auto b = NewPath::begin(sub, NewPath::Kind::folder);
  auto late = NewPath::begin(sub, NewPath::Kind::folder);
  ASSERT_TRUE(a && b && late);
  write(a->place());
  write(b->place() + "/x");
  ASSERT_TRUE(a->keep());
  ASSERT_TRUE(b->keep());
  EXPECT_EQ(file_text(file), "new");
  EXPECT_EQ(file_text(sub + "/x"), "new");
  const Status second = late->keep();
  ASSERT_FALSE(second) << "the other was first";
  EXPECT_EQ(second.error().code, Errc::invalid_input);
}

}  // namespace
}  // namespace muster
