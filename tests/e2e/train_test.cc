#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/model/heartbeat.h"
#include "tests/e2e/train_test_kit.h"

// `muster train` as a person meets it.

namespace muster {
namespace {

TEST_F(Train, OneTwoAndFourRanksTrainAlike) {
  std::vector<double> last;
  for (const int ranks : {1, 2, 4}) {
    const std::string out = "out" + std::to_string(ranks);
    // The same 4 blocks a step, whatever the number of ranks.
    const ShellRun trained = run(usual(out) + "--steps 12 --save-every 6 --accumulate " +
                                 std::to_string(4 / ranks) + " --local " + std::to_string(ranks));
    ASSERT_EQ(trained.status, 0) << trained.output;
    const auto lines = steps_of(trained.output);
    ASSERT_EQ(lines.size(), 12U) << trained.output;
    EXPECT_LT(loss_of(lines.back()), 0.95 * loss_of(lines.front())) << trained.output;
    last.push_back(loss_of(lines.back()));
    for (int rank = 0; rank < ranks; ++rank) {
      const auto beat = decode_heartbeat(
          file_text(path(out + "/attempts/1/heartbeat/rank-" + std::to_string(rank))));
      ASSERT_TRUE(beat) << beat.error().context;
      EXPECT_EQ(beat->step, 12);
      EXPECT_EQ(beat->target_step, 12);
      EXPECT_EQ(beat->phase, RankPhase::done);
    }
    EXPECT_EQ(std::filesystem::status(path(out + "/attempts/1/flight")).permissions(),
              std::filesystem::perms::owner_all);
    const std::string metrics = file_text(path(out + "/metrics.jsonl"));
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 12 + 2 * 2 + 1) << metrics;
    for (const char* step : {"6", "12"}) {
      EXPECT_TRUE(std::filesystem::exists(path(out + "/checkpoints/step-" + step))) << step;
    }
    // What it says is what our own verbs read.
    if (ranks != 4) continue;
    const ShellRun shape = run("shape " + out + "/metrics.jsonl");
    EXPECT_NE(shape.output.find("12 points"), std::string::npos) << shape.output;
    const ShellRun board = run("shape " + out + "/tensorboard/events.out.tfevents.*");
    EXPECT_NE(board.output.find("12 points"), std::string::npos) << board.output;
  }
  EXPECT_NEAR(last[0], last[1], 2e-4);
  EXPECT_NEAR(last[0], last[2], 2e-4);
}

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// The field report's failure: one rank has fewer blocks, and nobody compared them.
TEST_F(Train, UnevenDataIsNamedAtOnce) {
  write_rank_files({21, 20, 20, 16});
  const std::string words =
      "train --model config.json --from-scratch --data cache --sequence 8 --dtype f32 --local 4 "
      "--accumulate 4 --save-every 0 ";
  const ShellRun hung = run(words + "--out uneven --no-even-steps");
  EXPECT_EQ(hung.status, 76) << hung.output;
  EXPECT_EQ(steps_of(hung.output).size(), 4U) << hung.output;
  const std::int64_t ended_ms = now_ms();
  // All ranks say the same of the same rank, in the words of the calls.
  for (const char* rank : {"rank 0: ", "rank 1: ", "rank 2: ", "rank 3: "}) {
    const std::string says =
        rank + std::string("rank 3 calls barrier (save) where ranks 0-2 call ");
    EXPECT_NE(hung.output.find(says), std::string::npos) << says << "\n" << hung.output;
  }
  // At once: no deadline was waited for.
  const std::string metrics = file_text(path("uneven/metrics.jsonl"));
  const std::size_t at = metrics.rfind("\"wall_ms\":");
  ASSERT_NE(at, std::string::npos) << metrics;
  const auto step_ms = parse_int(metrics.substr(at + 10, metrics.find(',', at) - at - 10));
  ASSERT_TRUE(step_ms) << metrics;
  EXPECT_LT(ended_ms - *step_ms, 2000);
  const ShellRun trace = run("trace uneven/attempts/1/flight");
  EXPECT_NE(trace.output.find("rank 3 left the training loop; 3 ranks wait"), std::string::npos)
      << trace.output;
  EXPECT_NE(trace.output.find("cause   uneven_steps"), std::string::npos) << trace.output;
  EXPECT_NE(trace.output.find("who     rank 3\n"), std::string::npos) << trace.output;
  const ShellRun even = run(words + "--out even");
  EXPECT_EQ(even.status, 0) << even.output;
  EXPECT_NE(even.output.find("16 to 21 (rank 3 has the fewest); every rank makes 4 steps"),
            std::string::npos)
      << even.output;
  EXPECT_EQ(steps_of(even.output).size(), 4U) << even.output;
}

TEST_F(Train, ADifferentRankIsRefusedByName) {
  const std::string same = usual("out");
  const ShellRun refused = run_shell(
      "cd " + shell_word(folder_.path()) + "\n" + three_ranks({same, same, same + " --lr 1e-4"}) +
      "wait $p0; a=$?; wait $p1; b=$?; wait $p2; echo statuses $a $b $?\n");
  EXPECT_NE(refused.output.find("statuses 78 78 78"), std::string::npos) << refused.output;
  EXPECT_NE(refused.output.find("--lr: rank 2 has 0.0001 where ranks 0-1 have 0.005"),
            std::string::npos)
      << refused.output;
  // Weights of another revision under the same name.
  ASSERT_EQ(run(usual("first") + "--steps 1").status, 0);
  for (const char* name : {"model", "other"}) {
    std::filesystem::create_directory(path(name));
    std::string weights = file_text(path("first/checkpoints/step-1/model.safetensors"));
    if (name == std::string("other")) weights.back() = '!';
    folder_.write(std::string(name) + "/config.json", kConfig);
    folder_.write(std::string(name) + "/model.safetensors", weights);
  }
  const auto of = [](const char* model) {
    return std::string("train --dtype f32 --accumulate 1 --out tuned --data ") +
           shell_word(packed()) + " --model " + model;
  };
  const ShellRun weights = run_shell("cd " + shell_word(folder_.path()) + "\n" +
                                     three_ranks({of("model"), of("other"), of("model")}) +
                                     "wait $p0; a=$?; wait $p1; b=$?; wait $p2; echo $a $b $?\n");
  EXPECT_NE(weights.output.find("78 78 78\n"), std::string::npos) << weights.output;
  EXPECT_NE(weights.output.find("weights: rank 1 has "), std::string::npos) << weights.output;
}

// Lines of a script.
std::string wait_for_a_step() {
  return "n=0\nwhile [ $n -lt 600 ] && ! grep -q step_ms out/metrics.jsonl 2>/dev/null; do\n"
         "  sleep 0.05; n=$((n + 1)); done\n";
}

TEST_F(Train, ASignalSavesAndLeaves) {
  const std::string words = usual("out") + "--epochs 100000 --save-every 0 --local 2";
  for (const char* signal : {"TERM", "USR1"}) {
    const ShellRun left =
        run_shell("cd " + shell_word(folder_.path()) + "\nrm -f out/metrics.jsonl\n" + kMuster +
                  " " + words + " --resume & p=$!\n" + wait_for_a_step() + "kill -" + signal +
                  " $p; wait $p; echo status $?\n");
    EXPECT_NE(left.output.find("status 75\n"), std::string::npos) << left.output;
    EXPECT_NE(left.output.find("saved and left"), std::string::npos) << left.output;
    const bool first = signal == std::string("TERM");
    EXPECT_EQ(left.output.find("Z resume from") == std::string::npos, first) << left.output;
  }
}

// Asked while it still loads, it makes no step first: one may take longer than a scheduler waits.
// The signal is pending when the program starts.
TEST_F(Train, ASignalBeforeTheFirstStep) {
  const ShellRun left = run_shell(
      "cd " + shell_word(folder_.path()) + " && exec env --block-signal=TERM sh -c " +
      shell_word("kill -TERM $$; exec " + kMuster + " " + usual("out") + "--epochs 100000"));
  EXPECT_EQ(left.status, 75) << left.output;
  EXPECT_TRUE(steps_of(left.output).empty()) << left.output;
  EXPECT_NE(left.output.find("left before the first step"), std::string::npos) << left.output;
}

TEST_F(Train, AFullDiskEndsTheRunWithItsStatus) {
  // A disk of its own, with room for two flight records (1 MB each) and not for a checkpoint.
  const std::string with_disk = "unshare -rm sh -c ";
  if (run_shell(with_disk + shell_word("mount -t tmpfs none /mnt")).status != 0) {
    GTEST_SKIP() << "no file system may be mounted here";
  }
  std::filesystem::create_directory(path("small"));
  const ShellRun full =
      run_shell("cd " + shell_word(folder_.path()) + " && " + with_disk +
                shell_word("mount -t tmpfs -o size=2700k none small && " + kMuster + " " +
                           usual("small/out") + "--steps 4 --save-every 2 --local 2"));
  EXPECT_EQ(full.status, 74) << full.output;
  EXPECT_NE(full.output.find("a checkpoint takes"), std::string::npos) << full.output;
  EXPECT_EQ(steps_of(full.output).size(), 2U) << full.output;
}

// A disk that fails amid a save gives the code that a lost rank gives, and is none. The limit is
// set when all else is open: a checkpoint's state takes 1.1 MB.
TEST_F(Train, AFileThatCannotBeWrittenIsAFaultOfStorage) {
  const ShellRun cut =
      run_shell("cd " + shell_word(folder_.path()) + "\ntrap '' XFSZ\n" + kMuster + " " +
                usual("out") + "--epochs 100000 --save-every 0 & p=$!\n" + wait_for_a_step() +
                "prlimit --pid $p --fsize=500000; kill -TERM $p; wait $p; echo status $?\n");
  EXPECT_NE(cut.output.find("status 74\n"), std::string::npos) << cut.output;
  EXPECT_NE(cut.output.find("File too large"), std::string::npos) << cut.output;
}

// Weights that are no numbers: no rank applies the gradient, and the run ends.
TEST_F(Train, NoFiniteGradients) {
  ASSERT_EQ(run(usual("out") + "--steps 1 --dtype bf16").status, 0);
  const std::string weights = path("out/checkpoints/step-1/model.safetensors");
  std::string bytes = file_text(weights);
  ASSERT_GT(bytes.size(), 1000U);
  const std::size_t end = bytes.size();
  bytes[end - 2] = '\xc0';
  bytes[end - 1] = '\x7f';
  folder_.write("out/checkpoints/step-1/model.safetensors", bytes);
  const ShellRun lost =
      run("train --model out/checkpoints/step-1 --dtype f32 --accumulate 4 --out lost --local 2 "
          "--most-skips 3 --data " +
          shell_word(packed()));
  EXPECT_EQ(lost.status, 93) << lost.output;
  EXPECT_EQ(steps_of(lost.output).size(), 3U) << lost.output;
  EXPECT_NE(lost.output.find("not applied: the gradient is not finite"), std::string::npos)
      << lost.output;
}

// A port that was free a moment ago.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

// As torchrun starts two hosts of two ranks: over TCP, weights sharded on each host, gradients
// summed across them. It learns what one rank learns.
TEST_F(Train, TwoHostsOfTwoRanks) {
  const std::string words = usual("out") + "--steps 4 --accumulate 1 --shard-in-node";
  std::string script = "cd " + shell_word(folder_.path()) +
                       "\nexport WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 "
                       "TORCHELASTIC_RUN_ID=$$ MASTER_PORT=" +
                       std::to_string(free_port() - 1) + "\n";
  for (int rank = 0; rank < 4; ++rank) {
    script += "RANK=" + std::to_string(rank) + " LOCAL_RANK=" + std::to_string(rank % 2) + " " +
              kMuster + " " + words + " & p" + std::to_string(rank) + "=$!\n";
  }
  const ShellRun four = run_shell(
      script + "wait $p0; a=$?; wait $p1; b=$?; wait $p2; c=$?; wait $p3; echo ends $a $b $c $?\n");
  EXPECT_NE(four.output.find("ends 0 0 0 0"), std::string::npos) << four.output;
  const ShellRun alone = run(usual("alone") + "--steps 4");
  const auto a = steps_of(four.output), b = steps_of(alone.output);
  ASSERT_EQ(a.size(), 4U) << four.output;
  ASSERT_EQ(b.size(), 4U) << alone.output;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(loss_of(a[i]), loss_of(b[i]), 2e-4) << a[i];
  EXPECT_TRUE(std::filesystem::exists(path("out/checkpoints/step-4/muster-checkpoint.json")));
}

// A sample that cannot be made is told before the first step.
TEST_F(Train, ASampleIsLookedAtFirst) {
  const ShellRun none = run(usual("none") + "--steps 1 --sample Once");
  EXPECT_EQ(none.status, 78) << none.output;
  EXPECT_TRUE(steps_of(none.output).empty()) << none.output;
  const std::string tokenizer = shell_word(kSource + "/testdata/tokenizers/qwen2.json");
  const ShellRun shown =
      run(usual("out") + "--steps 1 --local 2 --sample 'The run' --tokenizer " + tokenizer);
  EXPECT_EQ(shown.status, 0) << shown.output;
  EXPECT_NE(shown.output.find("sample: The run |"), std::string::npos) << shown.output;
  const ShellRun longer = run(usual("out") + "--local 2 --tokenizer " + tokenizer + " --sample " +
                              std::string(70'000, 'a'));
  EXPECT_EQ(longer.status, 64) << longer.output;
}

TEST_F(Train, StatusesOfWrongWords) {
  struct Row {
    std::string words;
    int status;
    const char* says;
  };
  std::string narrow = kConfig;
  narrow.replace(narrow.find("embeddings\":512"), 15, "embeddings\":31 ");
  folder_.write("narrow.json", narrow);
  std::string longer = usual("out");
  longer.replace(longer.find("config.json"), 11, "narrow.json");
  const Row kRows[] = {
      {longer, 78, "blocks of 32 tokens, and max_position_embeddings of narrow.json is 31"},
      {"train", 64, "which --model?"},
      {"train --lcal 2", 64, "train has no option '--lcal'"},
      {"train --help", 0, "Usage: muster train --model DIR"},
      {"help train", 0, "Usage: muster train --model DIR"},
      {"train --model nowhere --data nowhere --out out", 65, "No such file"},
      {"train --model config.json --data nowhere --out out", 78, "--from-scratch"},
      {"train --model config.json --from-scratch --data nowhere --out out", 65, "No such file"},
      {usual("config.json"), 74, "config.json"},
      {usual("out") + "--accumulate 65536", 78, "blocks"},
  };
  for (const Row& row : kRows) {
    const ShellRun got = run(row.words);
    EXPECT_EQ(got.status, row.status) << row.words << "\n" << got.output;
    EXPECT_NE(got.output.find(row.says), std::string::npos) << row.words << "\n" << got.output;
  }
  EXPECT_EQ(run(usual("out"), "RANK=1").status, 64);
}

}  // namespace
}  // namespace muster
