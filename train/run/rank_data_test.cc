#include "train/run/rank_data.h"

#include <gtest/gtest.h>

#include "tests/support/shell.h"

namespace muster::train {
namespace {

TEST(RankData, NamesByNumber) {
  const std::vector<std::string> names = {"README",  "b-10.i32", "b-0.i32", "b-2.i32",
                                          "b-1.i32", "b-3.i32",  "b-4.i32", "b-5.i32",
                                          "b-6.i32", "b-7.i32",  "b-8.i32", "b-9.i32"};
  EXPECT_EQ(*name_of_rank(names, 10, 11), "b-10.i32");
  EXPECT_EQ(*name_of_rank(names, 2, 11), "b-2.i32");
  EXPECT_EQ(*name_of_rank({"n2_rank00.i32", "n2_rank01.i32"}, 1, 2), "n2_rank01.i32");
}

TEST(RankData, Refuses) {
  using Names = std::vector<std::string>;
  for (const Names& names :
       {Names{}, Names{"rank0.i32"}, Names{"rank0.i32", "rank2.i32"},
        Names{"rank1.i32", "rank2.i32"}, Names{"a.i32", "b.i32"}, Names{"0.i32", "00.i32"},
        Names{"rank0.i32", "rank1.i32", "rank2.i32"}, Names{"rank0.bin", "rank1.bin"}}) {
    EXPECT_FALSE(name_of_rank(names, 0, 2));
  }
}

TEST(RankData, OpensWhatIsThere) {
  const testing_support::TemporaryFolder folder;
  const StepCut cut{.accumulation = 2, .micro_batch = 1, .rank = 1, .world = 2, .seed = 1};
  EXPECT_FALSE(open_rank_data(folder.path() + "/none", 8, cut));
  EXPECT_FALSE(open_rank_data(folder.path(), 8, cut));
  folder.write("rank0.i32", std::string(4 * 8 * 4, '\0'));
  folder.write("rank1.i32", std::string(4 * 8 * 7, '\0'));
  const auto source = open_rank_data(folder.path(), 8, cut);
  ASSERT_TRUE(source) << source.error().context;
  EXPECT_EQ((*source)->blocks(), 7U);
  EXPECT_EQ((*source)->steps(), 3U);
  folder.write("manifest.json", "{}");  // then it says that it is a pack
  EXPECT_FALSE(open_rank_data(folder.path(), 8, cut));
}

}  // namespace
}  // namespace muster::train
