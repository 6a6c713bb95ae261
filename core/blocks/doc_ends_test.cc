#include "core/blocks/doc_ends.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::blocks {
namespace {

using Ends = std::vector<std::uint64_t>;

TEST(DocEndsCheck, NamesTheEntryThatIsWrong) {
  struct Row {
    const char* name;
    Ends ends;
    const char* says;
  };
  const Row rows[] = {
      {"zero", {0}, "entry 0 is 0"},
      {"twice", {3, 3}, "entry 1 is 3, not beyond 3"},
      {"falls", {3, 9, 8}, "entry 2 is 8"},
      {"beyond", {3, 17}, "entry 1 is 17, beyond the 16 tokens"},
      {"of_64_bits", {~std::uint64_t{0}}, "beyond the 16 tokens"},
  };
  for (const Row& row : rows) {
    for (const bool in_blocks : {false, true}) {
      DocEndsCheck check(16, 8, in_blocks);
      Status fine;
      for (const std::uint64_t end : row.ends) {
        if (fine) fine = check.add(std::span(&end, 1));
      }
      ASSERT_FALSE(fine) << row.name;
      EXPECT_EQ(fine.error().code, Errc::corrupt);
      EXPECT_NE(fine.error().context.find(row.says), std::string::npos) << fine.error().context;
    }
  }
}

TEST(DocEndsCheck, TokensOfPieces) {
  DocEndsCheck concat(32, 8, false), in_blocks(32, 8, true);
  const Ends ends = {3, 8, 20, 32};
  ASSERT_TRUE(concat.add(ends));
  ASSERT_TRUE(in_blocks.add(ends));
  EXPECT_EQ(concat.piece_tokens(), 32U);
  // 0-3, 3-8, 16-20, 24-32: what is between is padding.
  EXPECT_EQ(in_blocks.piece_tokens(), 3U + 5U + 4U + 8U);
  EXPECT_EQ(concat.pieces(), 4U);
  EXPECT_EQ(concat.last_end(), 32U);
}

TEST(BlockBoundaries, OfEveryBlock) {
  const Ends ends = {3, 8, 20, 24};
  std::vector<std::uint32_t> out;
  const std::vector<std::vector<std::uint32_t>> expected = {{0, 3, 8}, {0, 8}, {0, 4, 8}, {0, 8}};
  for (std::size_t block = 0; block < expected.size(); ++block) {
    block_boundaries(ends, block, 8, out);
    EXPECT_EQ(out, expected[block]) << block;
  }
}

}  // namespace
}  // namespace muster::blocks
