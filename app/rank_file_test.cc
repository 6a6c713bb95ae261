#include "app/rank_file.h"

#include <gtest/gtest.h>

#include "app/pack_check.h"
#include "app/pack_plan.h"
#include "tests/support/memory_files.h"

namespace muster {
namespace {

TEST(RankOfName, Names) {
  struct Row {
    const char* path;
    std::optional<std::uint64_t> rank;
  };
  const Row rows[] = {
      {"rank03.i32", 3},
      {"/data/run7/rank03.i32", 3},
      {"ids_rank3_of_16.i32", 3},
      {"RANK-12.i32", 12},
      {"part-7.i32", 7},
      {"2024-rank_5-v2.i32", 5},
      {"drank7.i32", 7},
      {"rank.i32", std::nullopt},
      {"ids.i32", std::nullopt},
      {"rank03.bin", std::nullopt},
      {"rank03.i32.tmp", std::nullopt},
      {"rank65536.i32", std::nullopt},
      {"rank99999999999999999999.i32", std::nullopt},
      {"rank3/ids.i32", std::nullopt},
      {"", std::nullopt},
  };
  for (const Row& row : rows) EXPECT_EQ(rank_of_name(row.path), row.rank) << row.path;
}

void add_blocks(MemoryFiles& files, const std::string& path, std::size_t blocks,
                std::size_t more = 0) {
  files.add(path, std::string(blocks * 64 + more, '\0'));
}

TEST(PackCheck, TellsWhereTheRunHangs) {
  MemoryFiles files;
  add_blocks(files, "c/rank0.i32", 33);
  add_blocks(files, "c/rank1.i32", 30, 63);
  add_blocks(files, "c/rank2.i32", 34);
  files.add("c/notes.txt", "hello");
  const auto check = check_rank_files({{"c"}, 16, 1, 8}, files);
  ASSERT_TRUE(check) << check.error().context;
  EXPECT_EQ(check->ranks, 3U);
  EXPECT_EQ(check->least_blocks, 30U);
  EXPECT_EQ(check->most_blocks, 34U);
  EXPECT_EQ(check->total_blocks, 97U);
  EXPECT_EQ(check->least_steps, 3U);
  EXPECT_EQ(check->most_steps, 4U);
  EXPECT_EQ(check->left_blocks, 97U - 72U);
  EXPECT_EQ(check->left_of_one_list, 97U % 24U);
  EXPECT_EQ(check->torn_bytes, 63U);
  const Finding& finding = check->report.findings.at(0);
  EXPECT_EQ(finding.cause, Cause::uneven_steps);
  EXPECT_EQ(finding.severity, Severity::warning);
  ASSERT_EQ(finding.culprits.size(), 1U);
  EXPECT_EQ(finding.culprits[0].id, "1");
  EXPECT_NE(finding.summary.find("hangs in step 4"), std::string::npos) << finding.summary;
}

TEST(PackCheck, OtherRows) {
  MemoryFiles files;
  add_blocks(files, "even/rank0.i32", 16);
  add_blocks(files, "even/rank1.i32", 16, 3);
  add_blocks(files, "gap/rank0.i32", 16);
  add_blocks(files, "gap/rank2.i32", 16);
  add_blocks(files, "none/rank0.i32", 7);
  add_blocks(files, "none/rank1.i32", 7);
  add_blocks(files, "two/a/rank0.i32", 7);
  add_blocks(files, "two/b/rank0.i32", 7);
  files.add("text/a.txt", "x");
  const auto cause = [&](const std::string& folder) {
    const auto check = check_rank_files({{folder}, 16, 1, 8}, files);
    return check ? std::string(cause_name(check->report.findings.at(0).cause))
                 : std::string(errc_name(check.error().code));
  };
  EXPECT_EQ(cause("even"), "healthy");
  EXPECT_EQ(cause("gap"), "evidence_missing");
  EXPECT_EQ(cause("none"), "run_incomplete_exit_zero");
  EXPECT_EQ(cause("two"), "invalid_input");
  EXPECT_EQ(cause("text"), "not_found");
  EXPECT_EQ(cause("nowhere"), "not_found");
}

TEST(JudgePackInputs, FilesOfIdsAreRowsOfTheTable) {
  MemoryFiles files;
  add_blocks(files, "cache/rank0.i32", 33);
  add_blocks(files, "cache/rank1.i32", 16);
  files.add("cache/README", "Made on Monday.\n");
  files.add("config.txt", "block=16 micro_batch=1 grad_accum=8 evenfix=off\n");
  files.add("other.txt", "Nobody knows what this is.\n");
  const auto report = judge_pack_inputs({"config.txt", "cache"}, files);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->findings.at(0).cause, Cause::uneven_steps);
  EXPECT_EQ(report->findings.at(0).confidence, Confidence::high);
  ASSERT_EQ(report->blind.size(), 1U);
  EXPECT_FALSE(report->blind[0].hides_critical) << "a text in a folder";
  EXPECT_FALSE(judge_pack_inputs({"other.txt"}, files));
  EXPECT_FALSE(judge_pack_inputs({"nowhere"}, files));
  const auto beside = judge_pack_inputs({"config.txt", "cache", "nowhere"}, files);
  ASSERT_TRUE(beside);
  EXPECT_TRUE(beside->blind.at(0).hides_critical);
}

}  // namespace
}  // namespace muster
