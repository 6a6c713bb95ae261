#include "core/checkpoint/zip_directory.h"

#include <gtest/gtest.h>

#include <string>

#include "core/checkpoint/zip_test_kit.h"

namespace muster::checkpoint {
namespace {

Status check(const std::string& zip) {
  const auto end = find_zip_end(zip, zip.size());
  if (!end) return end.error();
  return check_zip_directory(
      std::string_view(zip).substr(end->directory_begin, end->directory_bytes), *end);
}

const std::vector<std::pair<std::string, std::string>> kFiles = {
    {"archive/data.pkl", "\x80\2."},
    {"archive/data/0", std::string(300, 'w')},
    {"archive/version", "3"}};

TEST(ZipDirectory, WholeFiles) {
  for (const bool wide : {false, true}) {
    for (const char* comment : {"", "a comment", "PK\5\6 inside of the comment, and more of it"}) {
      const std::string zip = zip_of(kFiles, wide, comment);
      const auto end = find_zip_end(zip, zip.size());
      ASSERT_TRUE(end) << end.error().context;
      EXPECT_EQ(end->entries, 3u);
      EXPECT_EQ(end->archive_begin, 0u);
      EXPECT_TRUE(check(zip));
    }
  }
  EXPECT_TRUE(check(zip_of({})));
}

TEST(ZipDirectory, BehindSomethingElse) {
  const std::string zip = std::string(77, 'x') + zip_of(kFiles);
  const auto end = find_zip_end(zip, zip.size());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->archive_begin, 77u);
  EXPECT_TRUE(check(zip));
}

TEST(ZipDirectory, TheTailAloneIsEnough) {
  const std::string zip = zip_of(kFiles, true);
  const std::string tail = zip.substr(zip.size() - 120);
  const auto end = find_zip_end(tail, zip.size());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->directory_begin, find_zip_end(zip, zip.size())->directory_begin);
}

TEST(ZipDirectory, CutAtEveryByte) {
  for (const bool wide : {false, true}) {
    const std::string zip = zip_of(kFiles, wide);
    for (std::size_t i = 0; i < zip.size(); ++i) {
      EXPECT_FALSE(check(zip.substr(0, i))) << i;
    }
  }
}

// Bytes that went missing in the middle: the end is there, and tells of more before it.
TEST(ZipDirectory, ShorterInTheMiddle) {
  const std::string zip = zip_of(kFiles);
  EXPECT_FALSE(check(zip.substr(0, 100) + zip.substr(200)));
}

TEST(ZipDirectory, FlippedAtEveryByte) {
  for (const bool wide : {false, true}) {
    const std::string zip = zip_of(kFiles, wide);
    for (std::size_t i = 0; i < zip.size(); ++i) {
      for (const int bit : {0, 4, 7}) {
        std::string flipped = zip;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        const auto end = find_zip_end(flipped, flipped.size());
        if (!end) continue;
        EXPECT_LE(end->directory_begin + end->directory_bytes, flipped.size());
        EXPECT_LE(end->archive_begin, end->directory_begin);
        (void)check(flipped);
      }
    }
  }
}

TEST(ZipDirectory, EntriesOutsideOfTheFile) {
  std::string zip = zip_of(kFiles);
  const auto end = find_zip_end(zip, zip.size());
  // The size of the first entry.
  zip.replace(end->directory_begin + 20, 4, number_bytes(std::uint32_t{100'000}));
  const Status status = check(zip);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().context.find("entry 1 of 3 lies outside"), std::string::npos);
}

}  // namespace
}  // namespace muster::checkpoint
