#include "train/run/train_options.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace muster::train {
namespace {

Result<ParsedOptions> parse(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  return parse_train_options(words);
}

TEST(TrainOptions, DefaultsAreThePublishedRecipe) {
  const auto parsed = parse("--model m --data d --out o");
  ASSERT_TRUE(parsed) << parsed.error().context;
  const TrainOptions& o = parsed->options;
  EXPECT_EQ(o.sequence, 2048U);
  EXPECT_EQ(o.micro_batch, 1U);
  EXPECT_EQ(o.accumulation, 8U);
  EXPECT_EQ(o.learning_rate, 1e-5);
  EXPECT_EQ(o.save_every, 500U);
  EXPECT_EQ(o.epochs, 1U);
  EXPECT_EQ(o.dtype(), Dtype::bf16);
  EXPECT_FALSE(o.checkpointing);
  EXPECT_EQ(16 * o.sequence * o.micro_batch * o.accumulation, 262'144U);
}

TEST(TrainOptions, BothFormsOfAValue) {
  const auto parsed =
      parse("--model=m --data d --out=o=1 --lr 3e-4 --steps=20 --resume --dtype f64");
  ASSERT_TRUE(parsed) << parsed.error().context;
  EXPECT_EQ(parsed->options.out, "o=1");
  EXPECT_EQ(parsed->options.learning_rate, 3e-4);
  EXPECT_EQ(parsed->options.steps, 20U);
  EXPECT_TRUE(parsed->options.resume);
  EXPECT_EQ(parsed->options.dtype(), Dtype::f64);
}

struct Row {
  const char* line;
  const char* says;
};

TEST(TrainOptions, Refuses) {
  const Row kRows[] = {
      {"", "train has no word ''"},
      {"--model m", "which --data?"},
      {"--data d --out o", "which --model?"},
      {"--model m --data d", "where to?"},
      {"--modl m", "train has no option '--modl'"},
      {"--model m --data d --out o now", "train has no word 'now'"},
      {"--model", "--model needs DIR"},
      {"--model=", "--model needs DIR"},
      {"--resume=yes", "--resume takes no value"},
      {"--micro 0", "--micro: '0' is no number from 1"},
      {"--micro -1", "--micro: '-1' is no number"},
      {"--micro 1.5", "--micro: '1.5' is no number"},
      {"--accumulate x", "--accumulate: 'x' is no number"},
      {"--lr nan", "--lr: 'nan' is no number"},
      {"--lr 2", "--lr: '2' is no number from 0 to 1"},
      {"--prefetch 3", "--prefetch: '3' is no number from 0 to 2"},
      {"--model m --data d --out o --dtype f16", "--dtype: 'f16' is none of"},
      {"--model m --data d --out o --sequence 2047", "--sequence is a multiple of 8"},
      {"--steps \x1b[2J", "'\\x1b[2J' is no number"},
  };
  for (const Row& row : kRows) {
    const auto parsed = parse(row.line);
    ASSERT_FALSE(parsed) << row.line;
    EXPECT_EQ(parsed.error().code, Errc::invalid_input);
    EXPECT_NE(parsed.error().context.find(row.says), std::string::npos)
        << row.line << ": " << parsed.error().context;
  }
}

TEST(TrainOptions, HelpTeachesByExample) {
  EXPECT_TRUE(parse("--micro 3 --help")->help);
  const std::string help = train_help();
  for (const char* word : {"--local 2", "--no-even-steps", "75 saved and left", "muster pack"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
  for (const std::string_view line : split(help, '\n')) EXPECT_LE(line.size(), 100U) << line;
}

}  // namespace
}  // namespace muster::train
