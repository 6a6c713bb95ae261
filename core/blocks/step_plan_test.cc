#include "core/blocks/step_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace muster::blocks {
namespace {

using Numbers = std::vector<std::uint64_t>;

TEST(StepPlan, RefusesWithAReason) {
  struct Row {
    const char* name;
    StepShape shape;
    const char* reason;
  };
  const Row rows[] = {
      {"no_block", {0, 8, 1, 2}, "no block"},
      {"no_batch", {100, 0, 1, 2}, "from 1 on"},
      {"no_micro", {100, 8, 0, 2}, "from 1 on"},
      {"no_rank", {100, 8, 1, 0}, "from 1 on"},
      {"too_many_blocks", {limits::kPackBlocks + 1, 8, 1, 2}, "are more than"},
      {"batch_too_large", {100, limits::kPackGlobalBatch + 1, 1, 2}, "is more than"},
      {"micro_does_not_divide", {100, 8, 3, 1}, "micro batches of 3 do not divide"},
      {"micro_beyond_batch", {100, 8, 16, 1}, "do not divide"},
      {"ranks_do_not_divide",
       {1000, 128, 1, 12},
       "these world sizes do: 1, 2, 4, 8, 16, 32, 64, 128"},
      {"ranks_beyond_batch", {1000, 12, 2, 12}, "these world sizes do: 1, 2, 3, 6"},
      {"rank_of_64_bits", {1000, 12, 2, ~std::uint64_t{0}}, "do not divide"},
      {"micro_of_64_bits", {1000, 12, ~std::uint64_t{0}, 2}, "do not divide"},
      {"fewer_than_a_batch", {127, 128, 1, 16}, "fewer than one global batch of 128"},
      {"many_divisors", {10'000'000, 720'720, 1, 17}, ", ... 720720"},
  };
  for (const Row& row : rows) {
    const auto plan = StepPlan::make(row.shape);
    ASSERT_FALSE(plan) << row.name;
    EXPECT_EQ(plan.error().code, Errc::invalid_input) << row.name;
    EXPECT_NE(plan.error().context.find(row.reason), std::string::npos)
        << row.name << ": " << plan.error().context;
  }
}

TEST(StepPlan, ValidWorldSizes) {
  EXPECT_EQ(valid_world_sizes(1, 1), (Numbers{1}));
  EXPECT_EQ(valid_world_sizes(36, 1), (Numbers{1, 2, 3, 4, 6, 9, 12, 18, 36}));
  EXPECT_EQ(valid_world_sizes(36, 4), (Numbers{1, 3, 9}));
  EXPECT_EQ(valid_world_sizes(36, 5), Numbers{});
  EXPECT_EQ(valid_world_sizes(limits::kPackGlobalBatch, limits::kPackGlobalBatch), (Numbers{1}));
  EXPECT_EQ(valid_world_sizes(limits::kPackGlobalBatch, 1).size(), 33U);
}

// 16 ranks, micro batches of 1, 8 of them to a step: the run whose ranks had 30,835 to 30,849
// blocks of their own. With one list for all, none is shorter, and 52 blocks are left, not
// hundreds.
TEST(StepPlan, TheRunThatHung) {
  const auto plan = StepPlan::make({493'364, 128, 1, 16});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps(), 3854U);
  EXPECT_EQ(plan->accumulation(), 8U);
  EXPECT_EQ(plan->blocks_of_rank(), 30'832U);
  EXPECT_EQ(plan->dropped_blocks(), 52U);
  EXPECT_EQ(plan->position(0, 0, 0, 0), 0U);
  EXPECT_EQ(plan->position(0, 3, 0, 0), 3U);
  EXPECT_EQ(plan->position(0, 0, 1, 0), 16U);
  EXPECT_EQ(plan->position(3853, 15, 7, 0), 493'311U);
}

// The positions of one step in the order in which its ranks, taken together, read them.
Numbers step_positions(const StepPlan& plan, std::uint64_t step) {
  const StepShape& s = plan.shape();
  Numbers out(s.global_batch);
  std::vector<bool> written(s.global_batch, false);
  for (std::uint64_t r = 0; r < s.world_size; ++r) {
    for (std::uint64_t j = 0; j < plan.accumulation(); ++j) {
      for (std::uint64_t i = 0; i < s.micro_batch; ++i) {
        const std::uint64_t place = (j * s.world_size + r) * s.micro_batch + i;
        EXPECT_FALSE(written[place]);
        written[place] = true;
        out[place] = plan.position(step, r, j, i);
      }
    }
  }
  EXPECT_TRUE(std::all_of(written.begin(), written.end(), [](bool w) { return w; }));
  return out;
}

StepShape random_shape(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  StepShape shape;
  shape.micro_batch = 1 + below(4);
  shape.global_batch = shape.micro_batch * (1 + below(48));
  shape.blocks = shape.global_batch + below(600);
  shape.remainder = below(2) == 0 ? Remainder::drop : Remainder::fill;
  return shape;
}

// Over ranks the blocks of an epoch are a partition; each rank has as many; each step has the same
// blocks in the same order whatever the world size; a stream that begins at any step is the rest of
// the whole one.
TEST(StepPlan, RandomPlansArePartitionsForAllWorldSizes) {
  std::mt19937_64 random(20'26);
  for (int trial = 0; trial < 300; ++trial) {
    StepShape shape = random_shape(random);
    const std::uint64_t seed = random(), epoch = random() % 5;
    std::vector<Numbers> stream;  // of W = 1
    for (const std::uint64_t w : valid_world_sizes(shape.global_batch, shape.micro_batch)) {
      shape.world_size = w;
      const auto plan = StepPlan::make(shape);
      ASSERT_TRUE(plan) << plan.error().context;
      const EpochBlocks order(*plan, seed, epoch);
      std::vector<int> seen(shape.blocks, 0);
      std::vector<Numbers> steps;
      for (std::uint64_t s = 0; s < plan->steps(); ++s) {
        steps.push_back({});
        for (const std::uint64_t p : step_positions(*plan, s)) {
          steps.back().push_back(order.at(p));
          ++seen[order.at(p)];
        }
      }
      const auto missing = static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), 0));
      std::uint64_t twice = 0;
      for (const int n : seen) twice += static_cast<std::uint64_t>(std::max(0, n - 1));
      EXPECT_EQ(missing, plan->dropped_blocks());
      EXPECT_EQ(twice, plan->repeated_blocks());
      EXPECT_EQ(plan->blocks_of_rank() * w, plan->steps() * shape.global_batch);
      if (stream.empty()) stream = steps;
      EXPECT_EQ(stream, steps) << "W = " << w;
    }
  }
}

TEST(StepPlan, TheLastStepIsFilledFromTheNextEpoch) {
  const auto plan = StepPlan::make({10, 4, 1, 2, Remainder::fill});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps(), 3U);
  EXPECT_EQ(plan->repeated_blocks(), 2U);
  const EpochBlocks order(*plan, 9, 0), next(*plan, 9, 1);
  EXPECT_EQ(order.at(10), next.at(0));
  EXPECT_EQ(order.at(11), next.at(1));
}

}  // namespace
}  // namespace muster::blocks
