#include "core/blocks/block_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace muster::blocks {
namespace {

TEST(BlockOrder, IsAPermutation) {
  std::vector<std::uint64_t> sizes = {1, 2, 3, 5, 6, 7, 97, 1009, 30'835, 65'521};
  for (int k = 1; k <= 17; ++k) {
    for (const std::int64_t d : {-1, 0, 1}) {
      sizes.push_back(static_cast<std::uint64_t>((std::int64_t{1} << k) + d));
    }
  }
  for (const std::uint64_t n : sizes) {
    for (const std::uint64_t epoch : {0U, 1U, 7U}) {
      const BlockOrder order(n, 42, epoch);
      std::vector<bool> seen(n, false);
      for (std::uint64_t p = 0; p < n; ++p) {
        const std::uint64_t block = order.at(p);
        ASSERT_LT(block, n);
        ASSERT_FALSE(seen[block]) << n << " blocks, position " << p;
        seen[block] = true;
        ASSERT_EQ(order.position_of(block), p);
      }
    }
  }
}

TEST(BlockOrder, GoesBackAndForthInThePackThatNobodyHolds) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t n = 1 + random() % limits::kPackBlocks;
    const BlockOrder order(n, random(), random());
    const std::uint64_t p = random() % n;
    const std::uint64_t block = order.at(p);
    ASSERT_LT(block, n);
    ASSERT_EQ(order.position_of(block), p);
  }
}

// The bits are a contract (docs/FORMATS.md): a run that resumes must see the order it began with.
TEST(BlockOrder, IsFrozen) {
  struct Row {
    std::uint64_t blocks, seed, epoch;
    std::vector<std::uint64_t> front;
  };
  const std::vector<Row> rows = {
      {10, 0, 0, {1, 0, 9, 3, 5, 6, 2, 8, 7, 4}},
      {10, 0, 1, {2, 6, 4, 8, 5, 7, 0, 9, 3, 1}},
      {493'300, 1234, 0, {262'719, 387'654, 141'266, 407'347, 267'480}},
      {limits::kPackBlocks,
       ~std::uint64_t{0},
       3,
       {172'693'036'603, 424'285'096'827, 461'843'208'800, 888'868'197'933, 258'672'260'594}},
  };
  for (const Row& row : rows) {
    const BlockOrder order(row.blocks, row.seed, row.epoch);
    for (std::size_t p = 0; p < row.front.size(); ++p) {
      EXPECT_EQ(order.at(p), row.front[p])
          << row.blocks << ", " << row.seed << ", " << row.epoch << " at " << p;
    }
    ASSERT_FALSE(row.front.empty());
  }
}

// Each block is as likely as another to come first, for every N, and neighbours are torn apart.
TEST(BlockOrder, LooksRandom) {
  for (const std::uint64_t n : {3U, 10U, 64U, 100U}) {
    constexpr std::uint64_t kSeeds = 20'000;
    std::vector<double> first(n, 0);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) ++first[BlockOrder(n, seed, 5).at(0)];
    const double expected = static_cast<double>(kSeeds) / static_cast<double>(n);
    double chi = 0;
    for (const double count : first) chi += (count - expected) * (count - expected) / expected;
    const double freedom = static_cast<double>(n - 1);
    EXPECT_LT(chi, freedom + 5 * std::sqrt(2 * freedom)) << n;
  }
  constexpr std::uint64_t kBlocks = 100'000;
  const BlockOrder order(kBlocks, 1, 0);
  int neighbours = 0, fixed = 0;
  for (std::uint64_t p = 0; p + 1 < kBlocks; ++p) {
    if (order.at(p + 1) == order.at(p) + 1) ++neighbours;
    if (order.at(p) == p) ++fixed;
  }
  EXPECT_LT(neighbours, 10);  // 1 is expected
  EXPECT_LT(fixed, 10);
}

TEST(BlockOrder, EpochsAndSeedsDiffer) {
  constexpr std::uint64_t kBlocks = 1000;
  const BlockOrder base(kBlocks, 1, 0), epoch(kBlocks, 1, 1), seed(kBlocks, 2, 0);
  int same_epoch = 0, same_seed = 0;
  for (std::uint64_t p = 0; p < kBlocks; ++p) {
    same_epoch += base.at(p) == epoch.at(p) ? 1 : 0;
    same_seed += base.at(p) == seed.at(p) ? 1 : 0;
  }
  EXPECT_LT(same_epoch, 12);
  EXPECT_LT(same_seed, 12);
}

}  // namespace
}  // namespace muster::blocks
