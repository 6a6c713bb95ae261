#include "app/line_fold.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr std::string_view kWarn = "n1:4711:99 [0] net.cc:5 NCCL WARN peer n2<30001> comm 0x7fa0";
constexpr std::string_view kWork =
    "[rank3]:[E801 10:00:00.118203377 P.cpp:9] [Rank 3] timeout: WorkNCCL(SeqNum=3907, Op=A)";

TEST(LineFold, WhatIsAlike) {
  struct Row {
    const char* name;
    std::string_view one;
    std::string two;
    bool alike;
  };
  const Row rows[] = {
      {"another process", kWarn, "n1:4712:99 [0] net.cc:5 NCCL WARN peer n2<30001> comm 0x7fa0",
       false},
      {"another host", kWarn, "n9:4711:99 [0] net.cc:5 NCCL WARN peer n2<30001> comm 0x7fa0",
       false},
      {"a process whose numbers look like a clock", "n12:34:56 [0] NCCL WARN a",
       "n12:34:57 [0] NCCL WARN a", false},
      {"another peer", kWarn, "n1:4711:99 [0] net.cc:5 NCCL WARN peer n3<30001> comm 0x7fa0",
       false},
      {"an error", "n1:4711:99 [0] NCCL WARN status=12", "n1:4711:99 [0] NCCL WARN status=5",
       false},
      {"a place", "n1:1:9 [0] NCCL INFO rank 1003 nranks 2048",
       "n1:1:9 [0] NCCL INFO rank 1004 nranks 2048", false},
      {"another rank", kWork,
       "[rank4]:[E801 10:00:00.118203377 P.cpp:9] [Rank 4] timeout: WorkNCCL(SeqNum=3907, Op=A)",
       false},
      {"cut", kWork, std::string(kWork.substr(0, kWork.size() - 1)), false},
      {"itself", kWarn, std::string(kWarn), true},
      {"another port and pointer", kWarn,
       "n1:4711:99 [0] net.cc:5 NCCL WARN peer n2<49152> comm 0x55f0c", true},
      {"another time and call", kWork,
       "[rank3]:[E801 10:02:59.000000001 P.cpp:9] [Rank 3] timeout: WorkNCCL(SeqNum=4001, Op=A)",
       true},
      {"another day", "2026-08-01T10:00:00Z n1:1:9 [0] NCCL WARN a",
       "2026-08-02T11:00:00Z n1:1:9 [0] NCCL WARN a", true},
  };
  for (const Row& row : rows) {
    const auto one = LineFold::shape_of(row.one), two = LineFold::shape_of(row.two);
    ASSERT_TRUE(one && two) << row.name;
    EXPECT_EQ(*one == *two, row.alike) << row.name;
  }
  EXPECT_FALSE(LineFold::shape_of("2026-08-01 10:00:00 step 7 loss 1.8"));
  EXPECT_FALSE(LineFold::shape_of(""));
}

TEST(LineFold, KeepsTheLastAndTheirNumber) {
  LineFold fold;
  const std::uint64_t shape = *LineFold::shape_of(kWarn);
  EXPECT_FALSE(fold.folds(shape, kWarn, 1));
  EXPECT_FALSE(fold.settle(shape, 1));
  EXPECT_TRUE(fold.folds(shape, kWarn, 2));
  EXPECT_TRUE(fold.folds(shape, "the last", 9));
  EXPECT_FALSE(fold.folds(shape + 1, kWarn, 10));
  const auto all = fold.take();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].text, "the last");
  EXPECT_EQ(all[0].number, 9u);
  EXPECT_EQ(all[0].skipped, 2u);
  EXPECT_TRUE(fold.take().empty());
}

TEST(LineFold, AShapeThatMakesRoomIsGivenBack) {
  LineFold fold;
  const auto shape = [](std::uint64_t i) { return 7 + (i << 40); };  // of one place
  std::uint64_t i = 0;
  std::optional<LineFold::Folded> given;
  for (; i < 64 && !given; ++i) {
    given = fold.settle(shape(i), 10 * i + 1);
    EXPECT_TRUE(fold.folds(shape(i), "line " + std::to_string(i), 10 * i + 2));
  }
  ASSERT_TRUE(given) << "memory has no bound";
  EXPECT_EQ(given->text, "line 0") << "not the one that was seen longest ago";
  EXPECT_FALSE(fold.folds(shape(0), "x", 999));
  EXPECT_TRUE(fold.folds(shape(i - 1), "x", 999));
}

}  // namespace
}  // namespace muster
