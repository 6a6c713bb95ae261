#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/model/heartbeat.h"
#include "tests/e2e/train_test_kit.h"

// Where a run of `muster train` goes on, and where it refuses to.

namespace muster {
namespace {

TEST_F(Train, AResumedRunEndsBitByBitWhereItWouldHave) {
  const std::string words = usual("out") + "--steps 6 --save-every 3 --local 2";
  ASSERT_EQ(run(words).status, 0);
  const std::string last = path("out/checkpoints/step-6");
  const auto whole = files_of(last);
  ASSERT_FALSE(whole.empty());
  std::filesystem::remove_all(last);
  // A crash has torn the last line of metrics: the next start does not write into it.
  const std::string torn = file_text(path("out/metrics.jsonl")) + "{\"schema\":";
  folder_.write("out/metrics.jsonl", torn);
  const ShellRun resumed = run(words + " --resume");
  ASSERT_EQ(resumed.status, 0) << resumed.output;
  EXPECT_NE(resumed.output.find("Z resume from"), std::string::npos) << resumed.output;
  EXPECT_EQ(steps_of(resumed.output).size(), 3U) << resumed.output;
  EXPECT_TRUE(files_of(last) == whole);
  EXPECT_TRUE(file_text(path("out/metrics.jsonl")).starts_with(torn + "\n{")) << resumed.output;
  EXPECT_EQ(resumed.output.find("another schedule"), std::string::npos) << resumed.output;
  // A sign of life says where the run stands before a step is made.
  std::filesystem::remove_all(path("out/attempts"));
  ASSERT_EQ(run(words + " --resume").status, 0);
  const auto beat = decode_heartbeat(file_text(path("out/attempts/1/heartbeat/rank-0")));
  ASSERT_TRUE(beat) << beat.error().context;
  EXPECT_EQ(beat->step, 6);
  // The order of blocks would be another one.
  EXPECT_EQ(run(words + " --resume --seed 7").status, 78);
  EXPECT_EQ(run(words + " --resume --accumulate 2").status, 78);
}

// Weights alone know their step too: the run goes on there, and never back.
TEST_F(Train, WeightsAloneGoOnAtTheirStep) {
  const std::string words = usual("out") + "--weights-only --save-every 2 --keep 2 ";
  ASSERT_EQ(run(words + "--steps 4").status, 0);
  const ShellRun resumed = run(words + "--steps 6 --local 2 --accumulate 2 --resume");
  EXPECT_EQ(resumed.status, 0) << resumed.output;
  EXPECT_NE(resumed.output.find("moments of the optimizer begin anew"), std::string::npos)
      << resumed.output;
  const auto lines = steps_of(resumed.output);
  ASSERT_EQ(lines.size(), 2U) << resumed.output;
  EXPECT_NE(lines[0].find("step 5/6"), std::string::npos) << lines[0];
  EXPECT_TRUE(std::filesystem::exists(path("out/checkpoints/step-6")));
  EXPECT_TRUE(std::filesystem::exists(path("out/checkpoints/step-4")));
  // Saved exactly from there on, moments count their own updates.
  ASSERT_EQ(run(usual("out") + "--steps 7 --resume").status, 0);
  EXPECT_NE(file_text(path("out/checkpoints/step-7/muster-checkpoint.json")).find("skipped\":6"),
            std::string::npos);
}

// Two runs in one folder would be mixed, and the checkpoints of the better one removed.
TEST_F(Train, AFolderWithCheckpointsIsNoFreshStart) {
  ASSERT_EQ(run(usual("out") + "--steps 2 --save-every 1").status, 0);
  const ShellRun again = run(usual("out") + "--steps 2 --keep 1 --local 2");
  EXPECT_EQ(again.status, 78) << again.output;
  EXPECT_NE(again.output.find("out/checkpoints has checkpoints"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path("out/checkpoints/step-2")));
  // A damaged one is passed over by name; where none is left the run does not begin anew.
  const std::string words = usual("out") + "--steps 3 --save-every 0 --resume ";
  folder_.write("out/checkpoints/step-2/model.safetensors", "short");
  const ShellRun older = run(words + "--local 2 --accumulate 2 ");
  EXPECT_EQ(older.status, 0) << older.output;
  EXPECT_NE(older.output.find("WARN out/checkpoints/step-2 is passed over: "), std::string::npos)
      << older.output;
  EXPECT_EQ(steps_of(older.output).size(), 2U) << older.output;
  for (const char* step : {"1", "2", "3"}) {
    folder_.write(std::string("out/checkpoints/step-") + step + "/model.safetensors", "short");
  }
  const ShellRun none = run(words);
  EXPECT_EQ(none.status, 74) << none.output;
  EXPECT_TRUE(steps_of(none.output).empty()) << none.output;
}

// Where each rank has a file of its own, all of them must be the same ones again.
TEST_F(Train, FilesOfRanksAreKnownAgain) {
  write_rank_files({8, 8});
  const std::string words =
      "train --model config.json --from-scratch --data cache --sequence 8 --dtype f32 --local 2 "
      "--accumulate 2 --out out --resume ";
  ASSERT_EQ(run(words + "--steps 1").status, 0);
  const ShellRun same = run(words + "--steps 2");
  EXPECT_EQ(same.status, 0) << same.output;
  EXPECT_EQ(steps_of(same.output).size(), 1U) << same.output;
  EXPECT_NE(same.output.find("WARN another schedule than before: the run was to end after step 1, "
                             "now after 2"),
            std::string::npos)
      << same.output;
  std::string bytes = file_text(path("cache/rank01.i32"));
  bytes[0] = '\x09';
  folder_.write("cache/rank01.i32", bytes);
  const ShellRun changed = run(words + "--steps 3");
  EXPECT_EQ(changed.status, 78) << changed.output;
  EXPECT_NE(changed.output.find("other data"), std::string::npos) << changed.output;
}

// What cannot be resumed is another configuration, not a failing disk.
TEST_F(Train, AnotherModelOrOtherNumbersAreRefused) {
  ASSERT_EQ(run(usual("out") + "--steps 1").status, 0);
  std::string wider = kConfig;
  wider.replace(wider.find("\"intermediate_size\":64"), 22, "\"intermediate_size\":96");
  folder_.write("wider.json", wider);
  std::string other = usual("out");
  other.replace(other.find("config.json"), 11, "wider.json");
  const ShellRun model = run(other + "--resume --steps 2 --local 2");
  EXPECT_EQ(model.status, 78) << model.output;
  EXPECT_NE(model.output.find("of another model"), std::string::npos) << model.output;
  const ShellRun numbers = run(usual("out") + "--resume --steps 2 --dtype f64");
  EXPECT_EQ(numbers.status, 78) << numbers.output;
  // Weights that do not fit the model's own config.json: neither.
  std::filesystem::create_directory(path("misfit"));
  folder_.write("misfit/config.json", wider);
  folder_.write("misfit/model.safetensors",
                file_text(path("out/checkpoints/step-1/model.safetensors")));
  const ShellRun misfit = run("train --model misfit --dtype f32 --accumulate 4 --out lost --data " +
                              shell_word(packed()));
  EXPECT_EQ(misfit.status, 78) << misfit.output;
}

}  // namespace
}  // namespace muster
