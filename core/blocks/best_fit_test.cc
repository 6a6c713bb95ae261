#include "core/blocks/best_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/blocks/doc_ends.h"

namespace muster::blocks {
namespace {

using Lengths = std::vector<std::uint64_t>;

TEST(BestFit, SmallPlans) {
  struct Row {
    const char* name;
    Lengths lengths;
    bool split;
    std::uint64_t blocks, pad, cut, cut_documents;
    std::vector<PiecePlace> pieces;
  };
  const Row rows[] = {
      {"nothing", {}, false, 0, 0, 0, 0, {}},
      {"only_empty", {0, 0}, true, 0, 0, 0, 0, {}},
      {"one_full", {8}, false, 1, 0, 0, 0, {{0, 0, 8}}},
      {"one_beyond_is_cut", {9}, false, 1, 0, 1, 1, {{0, 0, 8}}},
      {"one_beyond_is_split", {9}, true, 2, 7, 0, 0, {{0, 0, 8}, {1, 0, 1}}},
      {"many_times_beyond", {25}, false, 1, 0, 17, 1, {{0, 0, 8}}},
      {"split_of_a_multiple", {16}, true, 2, 0, 0, 0, {{0, 0, 8}, {1, 0, 8}}},
      // 5 and 3 fill a block, 4 and 4 another: the least room that takes a piece.
      {"best_fit", {3, 4, 5, 4}, false, 2, 0, 0, 0, {{0, 5, 3}, {1, 0, 4}, {0, 0, 5}, {1, 4, 4}}},
      {"equal_in_their_order", {8, 8}, false, 2, 0, 0, 0, {{0, 0, 8}, {1, 0, 8}}},
      {"empty_between", {2, 0, 3}, false, 1, 3, 0, 0, {{0, 3, 2}, {0, 0, 3}}},
  };
  for (const Row& row : rows) {
    const BestFitPlan plan = plan_best_fit(row.lengths, 8, row.split);
    EXPECT_EQ(plan.blocks, row.blocks) << row.name;
    EXPECT_EQ(plan.pad_tokens, row.pad) << row.name;
    EXPECT_EQ(plan.truncated_tokens, row.cut) << row.name;
    EXPECT_EQ(plan.truncated_documents, row.cut_documents) << row.name;
    EXPECT_EQ(plan.pieces, row.pieces) << row.name;
  }
}

// No two pieces overlap, none crosses a block, the account adds up, and docs.u64 tells where each
// begins and ends.
void check(const Lengths& lengths, std::uint32_t block_tokens, bool split) {
  const BestFitPlan plan = plan_best_fit(lengths, block_tokens, split);
  std::uint64_t given = 0, placed = 0;
  for (const std::uint64_t length : lengths) given += length;
  std::vector<bool> used(plan.blocks * block_tokens, false);
  for (const PiecePlace& piece : plan.pieces) {
    ASSERT_LE(piece.offset + piece.tokens, block_tokens);
    ASSERT_LT(piece.block, plan.blocks);
    for (std::uint32_t i = 0; i < piece.tokens; ++i) {
      const std::uint64_t at = piece.block * block_tokens + piece.offset + i;
      ASSERT_FALSE(used[at]);
      used[at] = true;
    }
    placed += piece.tokens;
  }
  ASSERT_EQ(placed + plan.truncated_tokens, given);
  ASSERT_EQ(placed + plan.pad_tokens, plan.blocks * block_tokens);
  DocEndsCheck ends(plan.blocks * block_tokens, block_tokens, true);
  ASSERT_TRUE(ends.add(piece_ends(plan, block_tokens)));
  ASSERT_EQ(ends.pieces(), plan.pieces.size());
  ASSERT_EQ(ends.piece_tokens(), placed);
}

TEST(BestFit, RandomPlansAddUp) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint32_t block_tokens = 1 + static_cast<std::uint32_t>(random() % 300);
    Lengths lengths(random() % 200);
    for (auto& length : lengths) length = random() % (random() % 8 == 0 ? 1000 : block_tokens + 1);
    check(lengths, block_tokens, trial % 2 == 0);
  }
}

// A block longer than two levels of its index, and lengths that are one beyond a power of two.
TEST(BestFit, LongBlocks) {
  check({8193, 8193, 4097, 1, 65'536, 65'537, 262'144, 300'000}, 262'144, false);
  check({8193, 8193, 4097, 1, 65'536, 65'537, 262'144, 300'000}, 262'144, true);
}

// Records about half a block long hardly fit two by two, of which the account must tell the truth;
// of varied ones next to nothing is padding.
TEST(BestFit, PaddingOfSeedLikeLengths) {
  std::mt19937_64 random(1009);
  const auto share = [&](double mean, double deviation) {
    std::normal_distribution<double> length(mean, deviation);
    Lengths lengths(20'000);
    for (auto& l : lengths) l = static_cast<std::uint64_t>(std::max(1.0, length(random)));
    const BestFitPlan plan = plan_best_fit(lengths, 2048, false);
    return static_cast<double>(plan.pad_tokens) / static_cast<double>(plan.blocks * 2048);
  };
  EXPECT_NEAR(share(1009, 75), 0.0142, 0.004);
  EXPECT_LT(share(1009, 300), 0.002);
}

}  // namespace
}  // namespace muster::blocks
