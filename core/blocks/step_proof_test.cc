#include "core/blocks/step_proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::blocks {
namespace {

const std::string kPack = "0123456789abcdef0123456789abcdef";

TEST(ProveSteps, RandomShapes) {
  std::mt19937_64 random(88);
  for (int trial = 0; trial < 200; ++trial) {
    StepShape shape;
    shape.micro_batch = 1 + random() % 3;
    shape.global_batch = shape.micro_batch * (1 + random() % 60);
    shape.blocks = shape.global_batch * (1 + random() % 9) + random() % shape.global_batch;
    shape.remainder = random() % 2 == 0 ? Remainder::drop : Remainder::fill;
    const auto proof = prove_steps(shape, random(), random() % 3, kPack);
    ASSERT_TRUE(proof) << proof.error().context;
    EXPECT_EQ(proof->world_sizes, valid_world_sizes(shape.global_batch, shape.micro_batch));
    EXPECT_EQ(proof->tried_steps, proof->steps);
    const bool drops = shape.remainder == Remainder::drop;
    EXPECT_EQ(proof->dropped_blocks, drops ? shape.blocks % shape.global_batch : 0);
  }
}

// The line of two hosts is the same where they will read the same, and only there.
TEST(ProveSteps, TheOrderIsItsFingerprint) {
  std::set<std::string> orders;
  for (const StepShape& shape :
       {StepShape{1000, 8, 1, 1}, StepShape{1001, 8, 1, 1}, StepShape{1000, 16, 1, 1}}) {
    for (const std::uint64_t seed : {0U, 1U}) {
      for (const std::uint64_t epoch : {0U, 1U}) {
        const auto proof = prove_steps(shape, seed, epoch, kPack);
        ASSERT_TRUE(proof);
        EXPECT_TRUE(orders.insert(proof->order).second);
        EXPECT_EQ(prove_steps(shape, seed, epoch, kPack)->order, proof->order);
      }
    }
  }
  // Neither the micro batch nor the world changes what a step holds.
  EXPECT_EQ(prove_steps({1000, 8, 1, 1}, 0, 0, kPack)->order,
            prove_steps({1000, 8, 4, 2}, 0, 0, kPack)->order);
}

// The proof can fail: ranks that look elsewhere are found out.
TEST(CheckPlaces, FindsWhoLooksElsewhere) {
  const StepPlan plan = StepPlan::make({1000, 24, 2, 3}).value();
  constexpr std::uint64_t kStep = 5, kStart = kStep * 24;
  const auto right = [&](std::uint64_t r, std::uint64_t j, std::uint64_t i) {
    return plan.position(kStep, r, j, i);
  };
  EXPECT_TRUE(check_places(plan, kStep, right));
  const PlaceOfRank wrong[] = {
      [&](auto r, auto j, auto i) { return kStart + (r * 4 + j) * 2 + i; },  // a run for each rank
      [&](auto r, auto j, auto i) { return right(r, j, 1 - i); },
      [&](auto r, auto j, auto i) { return right(r, j, i) + 24; },  // the next step
      [&](auto r, auto j, auto i) { return right(r, j, i) - 24; },
      [&](auto r, auto j, auto) { return right(r, j, 0); },
      [&](auto r, auto j, auto i) { return right(r == 2 ? 1 : r, j, i); },
      [&](auto r, auto j, auto i) { return r == 2 && j == 3 ? 0 : right(r, j, i); },
      [&](auto, auto, auto) { return ~std::uint64_t{0}; },
  };
  for (const PlaceOfRank& place : wrong) {
    const Status fine = check_places(plan, kStep, place);
    ASSERT_FALSE(fine);
    EXPECT_EQ(fine.error().code, Errc::internal);
  }
}

TEST(ProveSteps, RefusesWhatIsNoPlan) {
  EXPECT_EQ(prove_steps({7, 8, 1, 1}, 0, 0, kPack).error().code, Errc::invalid_input);
  EXPECT_EQ(prove_steps({100, 8, 3, 1}, 0, 0, kPack).error().code, Errc::invalid_input);
}

// A million records of the lengths of the run that hung: packed for each rank alone they give block
// counts that differ; in one list, for every world size that divides the global batch, all ranks
// make the same steps.
TEST(ProveSteps, AMillionRecords) {
  std::mt19937_64 random(1009);
  std::normal_distribution<double> length(1009, 75);
  constexpr std::uint64_t kRecords = 1'000'000, kRanks = 16;
  std::uint64_t tokens = 0;
  std::vector<std::uint64_t> of_rank(kRanks, 0);
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    const auto record = static_cast<std::uint64_t>(std::max(1.0, length(random)));
    tokens += record;
    of_rank[i / (kRecords / kRanks)] += record;
  }
  std::set<std::uint64_t> counts;
  for (const std::uint64_t rank_tokens : of_rank) counts.insert(rank_tokens / 2048);
  EXPECT_GT(*counts.rbegin() - *counts.begin(), 8U) << "or this text would prove nothing";
  const auto proof = prove_steps({tokens / 2048, 128, 1, 1}, 7, 0, kPack);
  ASSERT_TRUE(proof) << proof.error().context;
  EXPECT_EQ(proof->world_sizes, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 128}));
  EXPECT_EQ(proof->steps, tokens / 2048 / 128);
  EXPECT_LT(proof->dropped_blocks, 128U);
}

}  // namespace
}  // namespace muster::blocks
