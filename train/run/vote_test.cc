#include "train/run/vote.h"

#include <gtest/gtest.h>

namespace muster::train {
namespace {

VoteRecord record(std::uint64_t blocks, std::vector<std::pair<std::string, std::string>> same) {
  return {blocks, blocks / 8, 0xfedcba9876543210, std::move(same)};
}
VoteRecord usual(std::uint64_t blocks = 80) {
  return record(blocks, {{"config", "c1"}, {"tokenizer", "t1"}, {"seed", "42"}});
}
VoteRecord other(const char* name, const char* value) {
  VoteRecord r = usual();
  for (auto& entry : r.same) {
    if (entry.first == name) entry.second = value;
  }
  return r;
}

TEST(Vote, Equal) {
  const Vote vote = judge_vote(std::vector(4, usual()));
  EXPECT_EQ(vote.steps, 10U);
  EXPECT_FALSE(vote.warning);
  EXPECT_FALSE(vote.refusal);
  EXPECT_FALSE(judge_vote(std::vector(1, usual())).refusal);
}

// The case that hung a run for three hours.
TEST(Vote, DifferentBlocksAreEvenedOut) {
  std::vector<VoteRecord> ranks(16, record(30'849, {}));
  ranks[3] = record(30'835, {});
  const Vote vote = judge_vote(ranks);
  EXPECT_EQ(vote.steps, 3854U);
  EXPECT_FALSE(vote.refusal);
  EXPECT_EQ(vote.warning,
            "ranks have different numbers of blocks, 30835 to 30849 (rank 3 has the fewest); every "
            "rank makes 3854 steps an epoch, what lies beyond is not used");
}

struct Row {
  const char* name;
  std::vector<VoteRecord> ranks;
  const char* refusal;
};

TEST(Vote, Refuses) {
  VoteRecord more = usual();
  more.same.emplace_back("dtype", "bf16");
  const Row kRows[] = {
      {"one_of_four",
       {usual(), usual(), other("config", "c2"), usual()},
       "config: rank 2 has c2 where ranks 0-1,3 have c1"},
      {"three_of_four",
       {usual(), other("seed", "7"), other("seed", "7"), other("seed", "7")},
       "seed: rank 0 has 42 where ranks 1-3 have 7"},
      {"no_majority",
       {usual(), other("config", "c2")},
       "config: rank 0 has c1, rank 1 has c2; there is no majority"},
      {"no_majority_of_four",
       {usual(), usual(), other("config", "c2"), other("config", "c3")},
       "config: ranks 0-1 have c1, rank 2 has c2, rank 3 has c3; there is no majority"},
      {"two_odd_ones",
       {usual(), other("config", "c2"), usual(), other("tokenizer", ""), usual()},
       "config: rank 1 has c2 where ranks 0,2-4 have c1; tokenizer: rank 3 has none where ranks "
       "0-2,4 have t1"},
      {"another_build",
       {usual(), usual(), more},
       "vote: rank 2 has config tokenizer seed dtype  where ranks 0-1 have config tokenizer seed "},
      {"hostile",
       {usual(), usual(), other("config", "\x1b[2J")},
       "config: rank 2 has \\x1b[2J where ranks 0-1 have c1"},
      {"no_step", {usual(), usual(7)}, "rank 1 has no whole step of data"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(judge_vote(row.ranks).refusal, row.refusal) << row.name;
  }
}

TEST(Vote, IsReadBack) {
  VoteRecord r = usual();
  r.same.emplace_back("odd \"name\"\n", std::string("\x01\xff", 2));
  const std::string text = encode_vote(usual());
  const auto read = decode_vote(text);
  ASSERT_TRUE(read) << read.error().context;
  EXPECT_EQ(*read, usual());
  EXPECT_TRUE(decode_vote(encode_vote(r)));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(decode_vote(text.substr(0, length))) << length;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x11);
    (void)decode_vote(flipped);
  }
}

TEST(Vote, DataOfRanksNamesEachRanksOwn) {
  std::vector<VoteRecord> ranks(3, usual());
  ranks[1].data = 7;
  const std::uint64_t digest = data_of_ranks(ranks);
  EXPECT_EQ(data_of_ranks(ranks), digest);
  std::vector<VoteRecord> swapped = {ranks[1], ranks[0], ranks[2]};
  EXPECT_NE(data_of_ranks(swapped), digest);
  std::vector<VoteRecord> fewer = {ranks[0], ranks[1]};
  EXPECT_NE(data_of_ranks(fewer), digest);
  ranks[2].blocks = 81;
  EXPECT_NE(data_of_ranks(ranks), digest);
}

TEST(Vote, Ranges) {
  using Ranks = std::vector<std::size_t>;
  EXPECT_EQ(rank_ranges(Ranks{}), "");
  EXPECT_EQ(rank_ranges(Ranks{3}), "3");
  EXPECT_EQ(rank_ranges(Ranks{0, 1, 2, 4, 6, 7}), "0-2,4,6-7");
}

}  // namespace
}  // namespace muster::train
