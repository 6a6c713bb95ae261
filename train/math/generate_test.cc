#include "train/math/generate.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "tests/support/plain_trainer.h"
#include "train/math/cpu_math.h"

namespace muster::train {
namespace {

// A small model that learned to count up to 30 and begin again.
class Generate : public ::testing::Test {
 protected:
  static constexpr std::int32_t kCount = 30;

  static void SetUpTestSuite() {
    Qwen3Config c;
    c.vocabulary = 32, c.hidden = 32, c.intermediate = 48, c.layers = 1;
    c.heads = 2, c.kv_heads = 1, c.head_dim = 16, c.max_positions = 256, c.tied = true;
    math_ = make_cpu_math(c, Dtype::f32, Keep::everything);
    trainer_ = std::make_unique<PlainTrainer>(*math_, 3);
    std::vector<std::int32_t> ids;
    for (std::int32_t i = 0; i < 4 * 96; ++i) ids.push_back((i % 96 + 7 * (i / 96)) % kCount);
    const std::vector<std::uint8_t> counted(ids.size(), 1);
    PlainTrainer::Rates rates;
    rates.learning = 1e-2;
    for (int step = 0; step < 60; ++step) {
      trainer_->add({4, 96, ids, counted}, 1 / 380.0);
      trainer_->step(rates);
    }
  }
  static void TearDownTestSuite() {
    trainer_.reset();
    math_.reset();
  }

  static Result<std::vector<std::int32_t>> from(std::vector<std::int32_t> prompt,
                                                const Sampling& sampling) {
    return generate(
        *math_, [](std::size_t unit) { return trainer_->weights(unit); }, prompt, sampling);
  }

  static inline std::unique_ptr<ModelMath> math_;
  static inline std::unique_ptr<PlainTrainer> trainer_;
};

TEST_F(Generate, GoesOnWithTheLikeliestTokenOverAChangeOfLength) {
  Sampling sampling;
  sampling.tokens = 90;  // past 64, where the padded text grows
  const auto ids = from({4, 5, 6}, sampling);
  ASSERT_TRUE(ids);
  ASSERT_EQ(ids->size(), 90u);
  for (std::size_t i = 0; i < ids->size(); ++i) {
    ASSERT_EQ((*ids)[i], static_cast<std::int32_t>(7 + i) % kCount) << i;
  }
}

TEST_F(Generate, EndsAtTheStop) {
  Sampling sampling;
  sampling.stop = 12;
  EXPECT_EQ(from({7, 8}, sampling).value(), (std::vector<std::int32_t>{9, 10, 11}));
}

TEST_F(Generate, ChanceIsRepeatedBySeedAndGrowsWithTemperature) {
  Sampling sampling;
  sampling.temperature = 2;
  sampling.tokens = 40;
  std::set<std::vector<std::int32_t>> texts;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    sampling.seed = seed;
    EXPECT_EQ(from({3}, sampling).value(), from({3}, sampling).value());
    texts.insert(from({3}, sampling).value());
  }
  EXPECT_EQ(texts.size(), 3u);
  sampling.temperature = 0.05;
  Sampling greedy;
  greedy.tokens = 40;
  EXPECT_EQ(from({3}, sampling).value(), from({3}, greedy).value());
}

TEST_F(Generate, RefusesNoPromptAndUnknownIds) {
  for (const std::vector<std::int32_t>& prompt :
       {std::vector<std::int32_t>{}, std::vector<std::int32_t>{1, 32}}) {
    const auto ids = from(prompt, {});
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().code, Errc::invalid_input);
  }
}

}  // namespace
}  // namespace muster::train
