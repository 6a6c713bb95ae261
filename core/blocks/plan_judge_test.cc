#include "core/blocks/plan_judge.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/blocks/plan_reader.h"
#include "core/model/exit_status.h"

namespace muster::blocks {
namespace {

struct Row {
  const char* name;
  std::vector<std::string> texts;
  Cause cause;
  Severity severity;
  Confidence confidence;
  std::string culprits;  // "rank:3 rank:6"
  std::string says;      // part of the summary
};

constexpr Severity kOk = Severity::ok, kInfo = Severity::info, kWarning = Severity::warning,
                   kCritical = Severity::critical;
constexpr Confidence kLow = Confidence::low, kMedium = Confidence::medium, kHigh = Confidence::high;
constexpr Cause kUneven = Cause::uneven_steps, kHealthy = Cause::healthy,
                kNoStep = Cause::run_incomplete_exit_zero, kAsk = Cause::evidence_missing;

std::string culprits_of(const Finding& finding) {
  std::string out;
  for (const Culprit& culprit : finding.culprits) {
    out +=
        (out.empty() ? "" : " ") + std::string(culprit_kind_name(culprit.kind)) + ":" + culprit.id;
  }
  return out;
}

Report judged(const std::vector<std::string>& texts) {
  PlanFacts facts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(read_plan("file" + std::to_string(i), texts[i], facts)) << texts[i];
  }
  Report report;
  judge_plan(facts, report);
  return report;
}

void check(const Row& row) {
  SCOPED_TRACE(row.name);
  const Report report = judged(row.texts);
  ASSERT_EQ(report.findings.size(), 1U);
  const Finding& finding = report.findings[0];
  EXPECT_EQ(cause_name(finding.cause), cause_name(row.cause)) << finding.summary;
  EXPECT_TRUE(cause_row(finding.cause).allows(finding.severity));
  EXPECT_EQ(finding.severity, row.severity) << finding.summary;
  EXPECT_EQ(finding.confidence, row.confidence) << finding.summary;
  EXPECT_EQ(culprits_of(finding), row.culprits) << finding.summary;
  EXPECT_NE(finding.summary.find(row.says), std::string::npos) << finding.summary;
  EXPECT_FALSE(finding.actions.empty());
  if (row.cause == kAsk) {
    EXPECT_EQ(exit_status_of(report), ExitStatus::cannot_tell);
  }
}

// 8192 bytes a block of 2048 ids.
const std::string kConfig = "block=2048 dtype=int32 micro_batch=1 grad_accum=8 world_size=4";
std::string bytes(std::initializer_list<std::uint64_t> blocks) {
  std::string out = "rank\tfile\tbytes\n";
  std::uint64_t rank = 0;
  for (const std::uint64_t n : blocks) {
    out += std::to_string(rank) + "\tcache/rank0" + std::to_string(rank) + ".i32\t" +
           std::to_string(n * 8192 + 36) + "\n";
    ++rank;
  }
  return out;
}
std::string samples(std::initializer_list<std::uint64_t> counts) {
  std::string out = "rank\tfiles\tsamples\n";
  std::uint64_t rank = 0;
  for (const std::uint64_t n : counts) {
    out += std::to_string(rank++) + "\t" + std::to_string(n) + "\t" + std::to_string(n) + "\n";
  }
  return out;
}

const Row kTables[] = {
    // ---- nothing is wrong
    {"equal_blocks", {kConfig, bytes({800, 800, 800, 800})}, kHealthy, kOk, kHigh, "", "100 steps"},
    {"rest_of_a_file_is_not_read",
     {"block=2048 micro_batch=1 grad_accum=8",
      "rank file bytes\n0 a0.i32 6553600\n1 a1.i32 6561791\n"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "100 steps"},
    {"even_mode",
     {kConfig + " evenfix=on", bytes({800, 801, 820, 830})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "stops all of them at 800"},
    {"even_batches_of_a_library",
     {"even_batches: true\nper_device_train_batch_size: 4", samples({100, 96})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "stops all"},
    {"equal_samples",
     {"batch_size=16 drop_last=true", samples({48, 48, 48})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "3 steps"},
    {"same_batches_where_the_last_is_smaller",
     {"batch_size=16 drop_last=false", samples({48, 47})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "3 steps"},
    {"same_full_batches",
     {"batch_size=16 drop_last=true", samples({49, 48})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "3 steps"},
    {"equal_steps_told", {"rank,steps\n0,100\n1,100\n"}, kHealthy, kOk, kHigh, "", "100 steps"},
    {"equal_without_a_config", {bytes({5, 5, 5})}, kHealthy, kOk, kHigh, "", "3 ranks"},
    {"equal_samples_without_a_config", {samples({5, 5})}, kHealthy, kOk, kMedium, "", "2 ranks"},
    {"several_files_of_a_rank",
     {"micro_batch=1", "rank file blocks\n0 a 10\n0 b 5\n1 c 7\n1 d 8\n"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "15 blocks"},
    {"one_rank",
     {"block=2048 dtype=int32 micro_batch=1", "rank bytes\n0 8192000\n"},
     kHealthy,
     kOk,
     kHigh,
     "",
     ""},
    {"ids_of_64_bits",
     {"block=4 dtype=int64 micro_batch=2", "rank bytes\n0 64\n1 64\n"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "1 step "},
    {"beyond_32_bits",
     {"block=2048 micro_batch=1", "rank tokens\n0 8796093022208\n1 8796093022208\n"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "4,294,967,296 steps"},
    {"ends_before_the_data",
     {kConfig + " max_steps=100", bytes({816, 801, 832, 848})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "the run ends after 100 steps"},
    {"no_end_is_set",
     {kConfig + "\nmax_steps: -1", bytes({800, 800, 800, 800})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "100 steps"},
    {"only_ranks_of_data_parallelism_read",
     {"block=2048 dtype=int32 micro_batch=1 world_size=16 dp_size=2", bytes({8, 8})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "2 ranks"},
    {"rank_zero_deals",
     {"batch_size=4 dispatch_batches=true", samples({9, 4})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "stops all"},
    {"block_goes_before_the_model's",
     {"block=2048 max_seq_len=4096 dtype=int32 micro_batch=1", bytes({3, 3})},
     kHealthy,
     kOk,
     kHigh,
     "",
     "3 blocks"},
    {"lines_of_ranks",
     {"batch_size=16", "rank 0: 48 samples\nrank 1: 48 samples\n"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "3 steps"},
    // ---- uneven
    {"lines_of_ranks_differ",
     {"batch_size: 16\ndrop_last: true\n",
      "Rank 0: 49 files, 49 samples\nRank 1: 47 files, 47 samples\n"},
     kUneven,
     kWarning,
     kMedium,
     "rank:1",
     "hangs in step 3"},
    {"lines_of_names_and_numbers",
     {"batch_size=16 drop_last=true\nrank=0 samples=49\nrank=1 samples=49\nrank=2 samples=47\n"},
     kUneven,
     kWarning,
     kMedium,
     "rank:2",
     "hangs in step 3"},
    {"objects_in_an_array",
     {R"({"drop_last": true, "batch_size": 16, "shards": [{"rank": 0, "samples": 49},)"
      R"({"rank": 1, "samples": 47}]})"},
     kUneven,
     kWarning,
     kMedium,
     "rank:1",
     "hangs in step 3"},
    {"objects_one_a_line",
     {"batch_size=16 drop_last=true",
      "{\"rank\": 0, \"samples\": 49}\n{\"rank\": 1, \"samples\": 47}\n"},
     kUneven,
     kWarning,
     kMedium,
     "rank:1",
     "hangs in step 3"},
    {"ends_behind_the_shortest",
     {kConfig + " max_steps=101", bytes({816, 801, 832, 848})},
     kUneven,
     kWarning,
     kMedium,
     "rank:1",
     "hangs in step 101"},
    {"off",
     {kConfig + " evenfix=off", bytes({816, 801, 832, 848})},
     kUneven,
     kWarning,
     kHigh,
     "rank:1",
     "hangs in step 101"},
    {"not_said",
     {kConfig, bytes({816, 801, 832, 848})},
     kUneven,
     kWarning,
     kMedium,
     "rank:1",
     "hangs in step 101"},
    {"others_as_short_in_steps",
     {kConfig + " evenfix=off", bytes({816, 801, 807, 848})},
     kUneven,
     kWarning,
     kHigh,
     "rank:1",
     "100 steps on ranks 1 and 2"},
    {"one_has_more",
     {kConfig, bytes({800, 800, 800, 808})},
     kUneven,
     kWarning,
     kMedium,
     "rank:3",
     "hangs in step 101"},
    {"full_batches",
     {"batch_size=16 drop_last=true", samples({49, 49, 47})},
     kUneven,
     kWarning,
     kMedium,
     "rank:2",
     "2 steps on rank 2, up to 3 on others"},
    {"drop_or_not_it_hangs",
     {"batch_size=16", samples({49, 49, 47})},
     kUneven,
     kWarning,
     kMedium,
     "rank:2",
     "hangs"},
    {"smaller_last_batch",
     {"batch_size=16 drop_last=false", samples({49, 48})},
     kUneven,
     kWarning,
     kMedium,
     "rank:1",
     "hangs in step 4"},
    {"a_rank_without_samples",
     {"batch_size=1 drop_last=false", samples({2, 2, 0})},
     kUneven,
     kWarning,
     kMedium,
     "rank:2",
     "hangs in step 1"},
    {"steps_told",
     {"| rank | steps |\n|---|---|\n| 0 | 3857 |\n| 1 | 3854 |\n"},
     kUneven,
     kWarning,
     kMedium,
     "rank:1",
     "3,854 to 3,857 steps"},
    {"json_config",
     {R"({"data": {"block_size": 2048, "dtype": "int32"}, "train": {"micro_batch_size": 1,)"
      R"("gradient_accumulation_steps": 8, "even_steps": false}})",
      bytes({801, 816, 816})},
     kUneven,
     kWarning,
     kHigh,
     "rank:0",
     "even-step mode is off"},
    {"command_line_options",
     {"--block-size 2048 --micro-batch-size=1 --gradient-accumulation-steps 8 --bf16",
      bytes({801, 816, 816})},
     kUneven,
     kWarning,
     kMedium,
     "rank:0",
     "hangs in step 101"},
    {"global_batch",
     {"global_batch_size: 32\nworld_size: 2\ndrop_last: true", samples({47, 48})},
     kUneven,
     kWarning,
     kMedium,
     "rank:0",
     "2 steps on rank 0"},
    // ---- it may be: never sure
    {"only_the_unfinished_step_differs",
     {kConfig, bytes({803, 805, 804, 806})},
     kUneven,
     kWarning,
     kLow,
     "rank:0",
     "begins an unfinished one"},
    {"drop_decides",
     {"batch_size=16", samples({49, 48})},
     kUneven,
     kWarning,
     kLow,
     "rank:1",
     "does not say"},
    {"no_batch_size",
     {"drop_last=true", samples({49, 47})},
     kUneven,
     kWarning,
     kLow,
     "rank:1",
     "without the batch size"},
    {"batch_size_of_a_word",
     {"batch_size=auto\ndrop_last=true", samples({49, 47})},
     kUneven,
     kWarning,
     kLow,
     "rank:1",
     "without the batch size"},
    {"two_batch_sizes",
     {"batch_size=16\nbatch_size=8", samples({49, 47})},
     kUneven,
     kWarning,
     kLow,
     "rank:1",
     "without the batch size"},
    {"batch_size_of_0",
     {"batch_size=0 drop_last=true", samples({49, 47})},
     kUneven,
     kWarning,
     kLow,
     "rank:1",
     "without the batch size"},
    {"joined",
     {kConfig + " join_uneven_inputs=true", bytes({816, 801, 832, 848})},
     kUneven,
     kWarning,
     kLow,
     "rank:1",
     "joins or repeats"},
    // ---- no step
    {"no_full_batch",
     {"batch_size=64 drop_last=true", samples({49, 47})},
     kNoStep,
     kCritical,
     kHigh,
     "config:batch_size",
     "exit 0"},
    {"nothing_at_all",
     {"micro_batch=1", "rank blocks\n0 0\n1 0\n"},
     kNoStep,
     kCritical,
     kHigh,
     "config:micro_batch",
     "exit 0"},
    {"even_mode_stops_all_at_nothing",
     {kConfig + " evenfix=min", bytes({800, 7, 800, 800})},
     kNoStep,
     kCritical,
     kHigh,
     "config:micro_batch",
     "exit 0"},
    {"perhaps_no_batch",
     {"batch_size=64", samples({49, 47})},
     kNoStep,
     kCritical,
     kLow,
     "config:batch_size",
     "dropped"},
    // ---- not told
    {"bytes_alone", {bytes({800, 801})}, kAsk, kInfo, kLow, "", "no block size"},
    {"model_dtype_is_not_that_of_ids",
     {"block=2048 dtype=bfloat16 micro_batch=1", "rank bytes\n0 8192\n1 16384\n"},
     kAsk,
     kInfo,
     kLow,
     "",
     "type of the ids"},
    {"rank_missing", {kConfig, bytes({800, 800, 800})}, kAsk, kInfo, kLow, "", "not all of it"},
    {"rank_missing_in_the_middle",
     {"micro_batch=1", "rank blocks\n0 5\n2 5\n"},
     kAsk,
     kInfo,
     kLow,
     "",
     "not all of it"},
    {"more_ranks_than_the_world", {kConfig, bytes({8, 8, 8, 8, 8})}, kAsk, kInfo, kLow, "", ""},
    {"rank_twice", {"micro_batch=1", "rank blocks\n0 5\n0 5\n1 5\n"}, kAsk, kInfo, kLow, "", ""},
    {"line_of_a_rank_is_not_read",
     {"batch_size=16", "rank 0: 48 samples\nrank 1: 48 samples\nrank 2: lost\n"},
     kAsk,
     kInfo,
     kLow,
     "",
     "not all of it"},
    {"negative", {"micro_batch=1", "rank blocks\n0 5\n1 -5\n"}, kAsk, kInfo, kLow, "", ""},
    {"beyond_64_bits",
     {"micro_batch=1", "rank blocks\n0 5\n1 99999999999999999999\n"},
     kAsk,
     kInfo,
     kLow,
     "",
     ""},
    {"with_a_unit", {"micro_batch=1", "rank,bytes\n0,5 GiB\n1,5 GiB\n"}, kAsk, kInfo, kLow, "", ""},
    {"settings_alone", {kConfig}, kAsk, kInfo, kLow, "", "settings alone"},
};

TEST(JudgePlan, Tables) {
  for (const Row& row : kTables) check(row);
}

const Row kPlans[] = {
    {"enough",
     {"dataset_samples=1024 world_size=8 batch_size=4 drop_last=true"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "32 steps"},
    {"does_not_divide",
     {"dataset_samples=1025 world_size=8 batch_size=4 drop_last=true"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "32 steps"},
    {"last_batch_smaller",
     {"per_rank_samples=1 batch_size=2 drop_last=false"},
     kHealthy,
     kOk,
     kHigh,
     "",
     "1 step "},
    {"drop_not_said",
     {"samples_per_rank: 9\nbatch_size: 4"},
     kHealthy,
     kOk,
     kMedium,
     "",
     "2 to 3 steps"},
    {"no_full_batch",
     {"dataset_samples=512 world_size=384 batch_size=2 drop_last=true\nper_rank_samples=1"},
     kNoStep,
     kCritical,
     kHigh,
     "config:batch_size",
     "exit 0"},
    {"name_as_written",
     {"{\"per_device_train_batch_size\": 8, \"dataloader_drop_last\": true, \"num_samples\": 40,"
      "\"world_size\": 8}"},
     kNoStep,
     kCritical,
     kHigh,
     "config:per_device_train_batch_size",
     "5 samples per rank"},
    {"more_ranks_than_samples",
     {"dataset_samples=100 world_size=384 batch_size=2 drop_last=true"},
     kNoStep,
     kCritical,
     kHigh,
     "config:batch_size",
     "0 or 1 sample"},
    {"no_sample_at_all",
     {"per_rank_samples=0 batch_size=2"},
     kNoStep,
     kCritical,
     kHigh,
     "config:per_rank_samples",
     "exit 0"},
    {"padding_would_help",
     {"dataset_samples=512 world_size=384 batch_size=2 drop_last=true"},
     kNoStep,
     kCritical,
     kLow,
     "config:batch_size",
     "may make"},
    {"drop_would_decide",
     {"per_rank_samples=1 batch_size=2"},
     kNoStep,
     kCritical,
     kLow,
     "config:batch_size",
     "may make"},
    {"fewer_batches_than_accumulated",
     {"per_rank_samples=6 batch_size=2 grad_accum=8 drop_last=true"},
     kNoStep,
     kCritical,
     kLow,
     "config:batch_size",
     "may make"},
    {"no_batch_size",
     {"dataset_samples=512 world_size=384"},
     kAsk,
     kInfo,
     kLow,
     "",
     "no batch size"},
    {"world_of_0", {"dataset_samples=512 world_size=0 batch_size=2"}, kAsk, kInfo, kLow, "", ""},
    {"half_understood",
     {"per_rank_samples=100 batch_size=2 drop_last=perhaps"},
     kAsk,
     kInfo,
     kLow,
     "",
     "not understood"},
};

TEST(JudgePlan, Plans) {
  for (const Row& row : kPlans) check(row);
}

TEST(ReadPlan, WhatIsNoPlan) {
  const std::string texts[] = {
      "",
      "\n\n",
      "rank 3 left the loop\n",
      "rank 0: step 10 loss 2.3\nrank 1: step 10 loss 2.3\n",
      "[rank0] 49 samples\n",
      "{\"rank\": 0, \"loss\": 2}\n{\"rank\": 1, \"loss\": 2}\n",
      "step=10 loss=2.31 lr=1e-5\nstep=20 loss=2.29 lr=1e-5\n",
      "NCCL_IB_HCA=mlx5_0\nNCCL_DEBUG=INFO\n",
      "rank,loss\n0,1\n",
      "time,rank\n0,1\n",
      "{\"step\": 10, \"loss\": 2.3}",
      "{\"batch_size\": ",
      "[1, 2]",
      "index, power.draw [W]\n0, 512.10 W\n",
      "Notes.\nWe train on Monday.\nbatch_size=16\nAll is well.\n",
  };
  for (const std::string& text : texts) {
    PlanFacts facts;
    EXPECT_FALSE(read_plan("x", text, facts)) << text;
    EXPECT_TRUE(facts.rows.empty() && facts.settings.empty() && facts.unread.empty()) << text;
  }
}

// Whatever is cut or flipped, an answer comes, and no row is made of half a line's numbers that was
// not there: the rest of a table never accuses more surely than the whole.
TEST(ReadPlan, CutAndFlippedAtEveryByte) {
  const std::string config = kConfig + "\n# note\nevenfix: off\n",
                    table = bytes({816, 801, 832, 848});
  for (const std::string& text : {config, table, std::string(R"({"a": {"batch_size": 4}})")}) {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      for (const int flip : {-1, 0x01, 0x20, 0x80}) {
        std::string damaged = flip < 0 ? text.substr(0, i) : text;
        if (flip >= 0 && i < text.size()) {
          damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
        }
        PlanFacts facts;
        Report report;
        if (read_plan("x", damaged, facts)) judge_plan(facts, report);
        EXPECT_LE(report.findings.size(), 1U);
      }
    }
  }
}

}  // namespace
}  // namespace muster::blocks
