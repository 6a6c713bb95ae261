#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/e2e/train_test_kit.h"

// What of `muster train` takes longer than the usual tests should.

namespace muster {
namespace {

// Text that every Debian has; a model that knows nothing learns how licences begin.
TEST_F(Train, ASmallModelLearnsLicences) {
  const std::string tokenizer = shell_word(kSource + "/testdata/tokenizers/qwen2.json");
  const ShellRun packed =
      run("pack /usr/share/common-licenses/GPL-3 /usr/share/common-licenses/Apache-2.0 "
          "--out licences --block 64 --split '\\n\\n' --tokenizer " +
          tokenizer);
  ASSERT_EQ(packed.status, 0) << packed.output;
  const ShellRun trained =
      run("train --model config.json --from-scratch --data licences --out run --local 2 --lr 1e-2 "
          "--accumulate 4 --steps 40 --save-every 0 --sample 'the terms of this' --tokenizer " +
          tokenizer);
  ASSERT_EQ(trained.status, 0) << trained.output;
  const auto lines = steps_of(trained.output);
  ASSERT_EQ(lines.size(), 40U);
  EXPECT_LE(loss_of(lines.back()), 0.8 * loss_of(lines.front())) << trained.output;
  EXPECT_NE(trained.output.find("\nsample: the terms of this |"), std::string::npos)
      << trained.output;
}

// Nobody compares, nothing has a deadline: as the report's run stood for three hours.
TEST_F(Train, ASilentHangHangs) {
  write_rank_files({12, 12, 8});
  const std::string words =
      "train --model config.json --from-scratch --data cache --sequence 8 --dtype f32 "
      "--accumulate 4 --save-every 0 --no-even-steps --silent-hang --out out ";
  const ShellRun hung = run_shell(
      "cd " + shell_word(folder_.path()) + "\n" + three_ranks({words, words, words}) +
      "n=0; while [ $n -lt 600 ] && ! grep -q '\"step\":2' out/metrics.jsonl 2>/dev/null; do\n"
      "  sleep 0.1; n=$((n + 1)); done\nsleep 1\n"
      "for p in $p0 $p1 $p2; do kill -0 $p && echo alive; done; kill -9 $p0 $p1 $p2\nwait\n");
  EXPECT_EQ(steps_of(hung.output).size(), 2U) << hung.output;
  EXPECT_NE(hung.output.find("alive\nalive\nalive\n"), std::string::npos) << hung.output;
}

// The loss that was written last, with all its digits.
double last_loss(const std::string& metrics) {
  const std::size_t at = metrics.rfind("\"loss\":");
  if (at == std::string::npos) return -1;
  return parse_double(metrics.substr(at + 7, metrics.find(',', at) - at - 7)).value_or(-1);
}

// Each number of ranks goes on from what another one saved, and learns the same.
TEST_F(Train, AnotherNumberOfRanksGoesOn) {
  const auto words = [](int ranks) {
    return usual("out") + "--steps 8 --save-every 4 --accumulate " + std::to_string(4 / ranks) +
           " --local " + std::to_string(ranks);
  };
  ASSERT_EQ(run(words(2)).status, 0);
  const std::string last = path("out/checkpoints/step-8");
  const auto whole = files_of(last);
  const double loss = last_loss(file_text(path("out/metrics.jsonl")));
  ASSERT_GT(loss, 0);
  for (const int ranks : {2, 4, 1}) {
    std::filesystem::remove_all(last);
    const ShellRun resumed = run(words(ranks) + " --resume");
    ASSERT_EQ(resumed.status, 0) << resumed.output;
    EXPECT_EQ(steps_of(resumed.output).size(), 4U) << resumed.output;
    EXPECT_EQ(files_of(last) == whole, ranks == 2) << ranks;
    EXPECT_NEAR(last_loss(file_text(path("out/metrics.jsonl"))), loss, 1e-6 * loss) << ranks;
  }
}

}  // namespace
}  // namespace muster
