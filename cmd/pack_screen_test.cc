#include "cmd/pack_screen.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(PackScreen, NumbersInGroups) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567890), "1,234,567,890");
}

PackProgress at(std::uint64_t file_bytes, std::uint64_t text_bytes, std::uint64_t tokens) {
  PackProgress made;
  made.file_bytes = file_bytes;
  made.of_bytes = 4'000'000'000;
  made.text_bytes = text_bytes;
  made.tokens = tokens;
  return made;
}

TEST(PackScreen, ProgressHasARateAndTheTimeThatIsLeft) {
  EXPECT_EQ(progress_text({}, at(1'000'000'000, 500'000'000, 125'000'000), 10),
            "packing   25 %  1.00 GB of 4.00 GB  50.0 MB/s  12.50 Mtok/s  30 s left");
  // What an earlier process did counts for no rate.
  EXPECT_EQ(progress_text(at(2'000'000'000, 0, 0), at(3'000'000'000, 1'000'000'000, 0), 10),
            "packing   75 %  3.00 GB of 4.00 GB  100.0 MB/s  0.00 Mtok/s  10 s left");
  PackProgress lost = at(1'000'000'000, 500'000'000, 0);
  lost.errors = 1200;
  EXPECT_TRUE(progress_text({}, lost, 10).ends_with("  1,200 records lost"));
}

TEST(PackScreen, WhatIsNotKnownIsNotShown) {
  PackProgress pipe = at(1'000'000'000, 500'000'000, 0);
  pipe.of_bytes = 0;
  EXPECT_EQ(progress_text({}, pipe, 10), "packing  1.00 GB  50.0 MB/s  0.00 Mtok/s");
  EXPECT_EQ(progress_text({}, at(0, 0, 0), 0), "packing    0 %  0 kB of 4.00 GB");
  PackProgress again = at(1'000'000'000, 0, 0);
  again.again = true;
  EXPECT_EQ(progress_text({}, again, 10), "comparing   25 %  1.00 GB of 4.00 GB");
}

TEST(PackScreen, StepsAndWhatWasLeftOut) {
  PackResult result;
  result.manifest.blocks = 1000;
  result.manifest.global_batch = 128;
  result.manifest.tail_tokens = 5;
  const std::string text = pack_screen(result, "out\x1b[2J", "t\x1b", "");
  EXPECT_NE(text.find("7 at a global batch of 128, on every rank of 1, 2, 4, 8, 16, 32, 64, 128"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("5 tokens behind the last are left out"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("; 104 blocks of an epoch are in none\n"), std::string::npos) << text;
  result.manifest.remainder = blocks::Remainder::fill;
  EXPECT_NE(pack_screen(result, "out", "t", "").find("128; the last takes 24 of the next epoch\n"),
            std::string::npos);
  EXPECT_EQ(text.find("TWICE"), std::string::npos);
  result.manifest.inputs = {{"a", 5, 1, 1, 0, "x"},
                            {"b", 0, 0, 0, 0, "e"},
                            {"c", 0, 0, 0, 0, "e"},
                            {"a", 5, 1, 1, 0, "x"},
                            {"d", 5, 1, 1, 0, "x"}};
  EXPECT_NE(pack_screen(result, "out", "t", "")
                .find("TWICE      a was named before: its documents are in the pack again; so are "
                      "those of 1 more\n"),
            std::string::npos);
  result.manifest.global_batch = 2000;
  EXPECT_NE(pack_screen(result, "out", "t", "").find("none at a global batch of 2000"),
            std::string::npos);
}

}  // namespace
}  // namespace muster
