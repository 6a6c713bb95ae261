#include "edge/os/data_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/support/shell.h"

namespace muster {
namespace {

using testing_support::TemporaryFolder;

TEST(DataFile, ReadsAnywhere) {
  const TemporaryFolder folder;
  const auto reader = DataReader::open(folder.write("data", "12345678"));
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

}  // namespace
}  // namespace muster
