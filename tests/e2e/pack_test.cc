#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

// The program as it is called: `muster pack IN... --out DIR`.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

class Pack : public ::testing::Test {
 protected:
  ShellRun pack(const std::string& words) {
    return run_shell("cd " + shell_word(place_.path()) + " && " +
                     shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + " pack " + words);
  }
  // With the small tokenizer, which has no chat template.
  ShellRun build(const std::string& words) {
    return pack("--tokenizer " +
                shell_word(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/qwen2.json") +
                " " + words);
  }
  static std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "{\"text\":\"Record " + std::to_string(i) + " of many, made for a test.\"}\n";
    }
    return text;
  }
  std::string blocks(const std::string& out) {
    return file_text(place_.path() + "/" + out + "/blocks.i32");
  }
  TemporaryFolder place_;
};

TEST_F(Pack, WrongWordsAreRefused) {
  place_.write("a.jsonl", lines(500));
  EXPECT_EQ(pack("a.jsonl --out x").status, 64);
  EXPECT_NE(build("a.jsonl").output.find("where to? --out DIR"), std::string::npos);
  for (const char* words : {"--block 12", "--block 0", "--threads -1", "--packing best",
                            "--split '\\q'", "--split x --field y", "--eos no_such_token_at_all"}) {
    const ShellRun run = build(std::string("a.jsonl --out x ") + words);
    EXPECT_EQ(run.status, 64) << words << run.output;
  }
  EXPECT_EQ(build("none.jsonl --out x").status, 65);
  place_.write("p.parquet", "PAR1");
  EXPECT_EQ(build("p.parquet --out x").status, 65);
  place_.write("empty.jsonl", "{}\n");
  EXPECT_EQ(build("empty.jsonl --out x").status, 65);
  EXPECT_EQ(run_shell("ls " + shell_word(place_.path())).output,
            "a.jsonl\nempty.jsonl\np.parquet\n");
}

TEST_F(Pack, TheScreenTellsTheAccount) {
  place_.write("a.jsonl", lines(500) + "{\"no\":1}\n\n");
  const ShellRun run = build("a.jsonl --out packed --block 64 --global-batch 8");
  EXPECT_EQ(run.status, 1) << run.output;  // a record is lost
  for (const char* words :
       {"packed packed\n", "500 of 501 records in one file", "500 of them EOS",
        "(<|endoftext|> 2000)", "of 64 tokens, concat",
        "at a global batch of 8, on every rank of 1, 2, 4, 8", "LOST       1 the field is missing",
        "there are: no", "seen       1 a blank line", "packed/errors.jsonl",
        "next  muster pack verify packed"}) {
    EXPECT_NE(run.output.find(words), std::string::npos) << words << "\n" << run.output;
  }
  const ShellRun again = build("a.jsonl --out packed");
  EXPECT_EQ(again.status, 64);
  EXPECT_NE(again.output.find("is there already"), std::string::npos);
}

// What was packed is held against its texts, where they are; where they are not, nobody can tell.
TEST_F(Pack, VerifyReadsTheTextsAgain) {
  place_.write("a.jsonl", lines(300));
  place_.write("b.jsonl", lines(200) + "{\"text\":\"\"}\n");
  ASSERT_EQ(
      build("a.jsonl b.jsonl --out packed --block 64 --global-batch 8 --remainder fill").status, 0);
  const std::string verify =
      "verify packed --tokenizer " +
      shell_word(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/qwen2.json");
  ShellRun run = pack(verify);
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find(" repeated="), std::string::npos) << run.output;
  EXPECT_TRUE(run.output.ends_with(" samples=256\n")) << run.output;
  EXPECT_EQ(pack(verify + " --quick").status, 64);
  run = pack("verify packed --remainder drop");
  EXPECT_NE(run.output.find(" dropped="), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find(" samples="), std::string::npos) << run.output;
  place_.write("b.jsonl", lines(200));
  run = pack(verify);
  EXPECT_EQ(run.status, 3) << run.output;
  EXPECT_NE(run.output.find("b.jsonl"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("samples="), std::string::npos) << "no line to compare\n" << run.output;
  run = pack("verify packed --tokenizer " +
             shell_word(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/llama3.json"));
  EXPECT_EQ(run.status, 64) << run.output;
  EXPECT_NE(run.output.find("not that of the pack"), std::string::npos) << run.output;
}

TEST_F(Pack, InputsOfAllKindsGiveTheSameBlocks) {
  place_.write("a.jsonl", lines(300));
  ASSERT_EQ(run_shell("cd " + shell_word(place_.path()) +
                      " && gzip -k a.jsonl && head -c 5000 a.jsonl | gzip > b.gz && "
                      "tail -c +5001 a.jsonl | gzip >> b.gz && mkdir d && cp a.jsonl d/")
                .status,
            0);
  ASSERT_EQ(build("a.jsonl --out one --block 32 --threads 1 --json").status, 0);
  const std::string one = blocks("one");
  EXPECT_GT(one.size(), 1000U);
  for (const char* words : {"a.jsonl.gz --threads 3", "b.gz", "d/", "- <a.jsonl"}) {
    const ShellRun run = build(std::string("--out two --block 32 ") + words);
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(blocks("two"), one) << words;
    run_shell("rm -r " + shell_word(place_.path() + "/two"));
  }
  EXPECT_EQ(build("a.jsonl --out three --block 32 --packing bfd-split").status, 0);
  EXPECT_NE(blocks("three"), one);
}

TEST_F(Pack, AKilledBuildGoesOn) {
  place_.write("a.jsonl", lines(60000));
  ASSERT_EQ(build("a.jsonl --out one --threads 2").status, 0);
  const std::string program = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster");
  const std::string tokenizer =
      shell_word(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/qwen2.json");
  const ShellRun killed = run_shell(
      "cd " + shell_word(place_.path()) + "; " + program + " pack a.jsonl --out two --tokenizer " +
      tokenizer + " & builder=$!; while ! [ -e two.part ] && ! [ -e two ]; do :; done; " +
      "kill -9 $builder; wait $builder; ls -d two two.part");
  if (killed.output.find("two.part\n") == std::string::npos) {
    GTEST_SKIP() << "it came to its end before it could be killed: " << killed.output;
  }
  EXPECT_EQ(build("a.jsonl --out two").status, 64);
  const ShellRun on = build("a.jsonl --out two --resume");
  EXPECT_EQ(on.status, 0) << on.output;
  EXPECT_EQ(blocks("two"), blocks("one"));
  EXPECT_EQ(file_text(place_.path() + "/two/manifest.json"),
            file_text(place_.path() + "/one/manifest.json"));
}

}  // namespace
}  // namespace muster
