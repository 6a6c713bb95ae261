#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/json_reader.h"
#include "tests/support/shell.h"
#include "tests/support/usage_rows.h"

// `muster bench data` as it is used, on a small text and its pack: what is told was measured. How
// fast anything is is nobody's business here.

namespace muster {
namespace {

using testing_support::expect_usage;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;
using testing_support::UsageRow;

// Runs `script` in a folder with in.jsonl and its pack of blocks of 64 tokens; $M is the program
// and $T a tokenizer.
ShellRun in(const TemporaryFolder& folder, const std::string& script) {
  std::string lines;
  for (int i = 0; i < 500; ++i) {
    lines += "{\"text\":\"Line " + std::to_string(i) + " of a text that nobody reads.\"}\n";
  }
  folder.write("in.jsonl", lines);
  return run_shell("cd " + shell_word(folder.path()) +
                   " && M=" + shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + " T=" +
                   shell_word(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/qwen2.json") +
                   "\n[ -e pack ] || $M pack in.jsonl --out pack --tokenizer $T --block 64 "
                   "--global-batch 4 > made 2>&1 || cat made\n" +
                   script);
}

TEST(BenchData, Usage) {
  const std::vector<UsageRow> rows = {
      {"no text", "--pack pack --tokenizer $T", 64, "name the text"},
      {"no pack", "in.jsonl --tokenizer $T", 64, "against which --pack?"},
      {"no tokenizer", "in.jsonl --pack pack", 64, "with which --tokenizer?"},
      {"no such tokenizer", "in.jsonl --pack pack --tokenizer none", 65, "none"},
      {"no such text", "none --pack pack --tokenizer $T", 65, "No such file"},
      {"no such pack", "in.jsonl --pack none --tokenizer $T", 65, "No such file"},
      {"a step of no time", "in.jsonl --pack pack --tokenizer $T --step 0", 64, "more than 0"},
      {"a step too large", "in.jsonl --pack pack --tokenizer $T --global-batch 900000", 64,
       "blocks are fewer than one step has (900000)"},
      {"threads", "in.jsonl --pack pack --tokenizer $T --threads 9999", 64, "--threads: up to 256"},
      {"seconds", "in.jsonl --pack pack --tokenizer $T --seconds 0", 64, "--seconds: 0.01 to"},
  };
  const TemporaryFolder folder;
  expect_usage(rows, [&folder](const std::string& arguments) {
    return in(folder, "$M bench data " + arguments);
  });
}

TEST(BenchData, FourArmsAndAVerdict) {
  const TemporaryFolder folder;
  const auto run = in(folder,
                      "$M bench data in.jsonl --pack pack --tokenizer $T --step 1000 --threads 2 "
                      "--json");
  const auto document = parse_json(run.output);
  ASSERT_TRUE(document) << run.output;
  JsonFields fields(*document);
  EXPECT_EQ(fields.require_integer("step_tokens"), 256) << run.output;
  ASSERT_EQ(fields.array("arms").size(), 4U) << run.output;
  bool cold = true;
  for (const JsonNode& arm : fields.array("arms")) {
    JsonFields cells(arm);
    if (cells.require_text("state") == "measured") {
      EXPECT_GT(cells.number("tokens_per_second").value_or(0), 0) << run.output;
      EXPECT_GT(cells.require_integer("steps"), 0) << run.output;
    } else {
      EXPECT_NE(cells.require_text("reason"), "") << run.output;
      cold = cold && !cells.boolean("cold").value_or(true);
    }
    EXPECT_FALSE(cells.fault()) << run.output;
  }
  ASSERT_EQ(fields.array("verdicts").size(), 2U) << run.output;
  // A step in a thousand seconds is fed by anything.
  EXPECT_EQ(run.status, cold ? 0 : 3) << run.output;
  if (cold) {
    EXPECT_EQ(*fields.array("verdicts")[0].find("limit")->get<std::string>(), "none");
  }
}

TEST(BenchData, StepsThatNothingFeeds) {
  const TemporaryFolder folder;
  const auto run =
      in(folder, "$M bench data in.jsonl --pack pack --tokenizer $T --step 0.000000001");
  EXPECT_EQ(run.status, 1) << run.output;
  EXPECT_NE(run.output.find("lets the steps wait for the tokenizer,"), std::string::npos)
      << run.output;
}

}  // namespace
}  // namespace muster
