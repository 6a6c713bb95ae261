#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/shell.h"
#include "tests/support/usage_rows.h"

// `muster pack` and the verbs below it as a person meets them.

namespace muster {
namespace {

using testing_support::expect_usage;
using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;
using testing_support::UsageRow;

const std::string kPack = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + " pack ";

// Four ranks of 40, 39, 41 and 33 blocks of 2048 zeros, settings and a table of them.
class PackVerbs : public testing::Test {
 protected:
  PackVerbs() {
    std::filesystem::create_directory(folder_.path() + "/cache");
    std::string table = "rank\tfile\tbytes\n";
    for (const std::size_t blocks : {40U, 39U, 41U, 33U}) {
      const std::string name = "rank0" + std::to_string(rank_) + ".i32";
      folder_.write("cache/" + name, std::string(blocks * 8192, '\0'));
      table +=
          std::to_string(rank_++) + "\tcache/" + name + "\t" + std::to_string(blocks * 8192) + "\n";
    }
    folder_.write("table.tsv", table);
    folder_.write("off.txt", "block=2048 dtype=int32 micro_batch=1 grad_accum=8 evenfix=off\n");
    folder_.write("on.txt", "block=2048 dtype=int32 micro_batch=1 grad_accum=8 evenfix=on\n");
    folder_.write("none.txt", "per_rank_samples=1 batch_size=2 drop_last=true\n");
  }

  ShellRun run(const std::string& arguments) const {
    return run_shell("cd " + shell_word(folder_.path()) + " && " + kPack + arguments);
  }

  TemporaryFolder folder_;
  std::size_t rank_ = 0;
};

TEST_F(PackVerbs, ExitStatuses) {
  const std::vector<UsageRow> rows = {
      {"nothing", "", 64, "name the settings"},
      {"nowhere", "nowhere", 65, "No such file"},
      {"off.txt table.tsv", "off.txt table.tsv", 1, "the run hangs in step 5"},
      {"off.txt cache", "off.txt cache", 1, "the run hangs in step 5"},
      {"on.txt table.tsv", "on.txt table.tsv", 0, "the even-step mode"},
      {"none.txt", "none.txt", 2, "make no step"},
      {"table.tsv", "table.tsv", 3, "cannot tell"},
      {"check", "check", 64, "name the files of ids"},
      {"check nowhere", "check nowhere", 65, "No such file"},
      {"check off.txt", "check off.txt", 65, "no file of ids"},
      {"check cache --micro 0", "check cache --micro 0", 64, "from 1"},
      {"check cache --accumulate 8", "check cache --accumulate 8", 1, "spread 8"},
      {"check cache --accumulate 40", "check cache --accumulate 40", 1, "hangs in step 1"},
      {"check cache --accumulate 64", "check cache --accumulate 64", 2, "nothing trained"},
      {"verify", "verify", 64, "name one pack"},
      {"verify cache", "verify cache", 65, "it has no manifest.json"},
      {"verify cache --global-batch -1", "verify cache --global-batch -1", 64, "numbers from 1 on"},
      {"convert", "convert", 64, "name what is to be converted"},
      {"convert cache", "convert cache", 64, "--out"},
      {"convert cache --out x --to tape", "convert cache --out x --to tape", 64, "tape"},
      {"convert cache --out x --block 7", "convert cache --out x --block 7", 64, "a multiple of 8"},
      {"convert cache --out x --to ranks", "convert cache --out x --to ranks", 64,
       "make a pack first"},
      {"convert off.txt --out x", "convert off.txt --out x", 64, "neither per-rank ids"},
  };
  expect_usage(rows, [this](const std::string& arguments) {
    const ShellRun got = run(arguments);
    const auto lines = std::count(got.output.begin(), got.output.end(), '\n');
    EXPECT_TRUE(got.status < 64 || lines <= 2) << got.output;
    return got;
  });
}

TEST_F(PackVerbs, FromUnevenFilesToAPackThatIsProved) {
  ShellRun got = run("convert cache --out pack --global-batch 16");
  ASSERT_EQ(got.status, 0) << got.output;
  EXPECT_NE(got.output.find("153 blocks of 2048 tokens"), std::string::npos) << got.output;
  got = run("convert cache --out pack");
  EXPECT_EQ(got.status, 64) << got.output;
  EXPECT_NE(got.output.find("is not overwritten"), std::string::npos) << got.output;

  got = run("verify pack");
  ASSERT_EQ(got.status, 0) << got.output;
  EXPECT_EQ(std::count(got.output.begin(), got.output.end(), '\n'), 1) << "one line to compare";
  EXPECT_NE(got.output.find(" steps=9x16 dropped=9 micro=1 world=1,2,4,8,16 "), std::string::npos)
      << got.output;
  EXPECT_EQ(run("verify pack").output, got.output);
  EXPECT_EQ(run("verify pack --micro 3").status, 64);
  const std::string quick = run("verify pack --quick").output;
  EXPECT_NE(run("pack").output.find(quick.substr(0, 37)), std::string::npos) << "a bare folder";
  const std::string json = run("verify pack --json").output;
  EXPECT_NE(json.find(R"("verb":"pack verify")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("cause":"healthy")"), std::string::npos) << json;

  ASSERT_EQ(run("convert pack --to ranks --world 4 --out even").status, 0);
  EXPECT_EQ(run("check even --accumulate 4").status, 0);

  std::string blocks = file_text(folder_.path() + "/pack/blocks.i32");
  blocks[100'000] = 1;
  folder_.write("pack/blocks.i32", blocks);
  got = run("verify pack");
  EXPECT_EQ(got.status, 2) << got.output;
  EXPECT_NE(got.output.find("block 12: its hash is another"), std::string::npos) << got.output;
}

}  // namespace
}  // namespace muster
