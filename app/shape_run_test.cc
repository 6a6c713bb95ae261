#include "app/shape_run.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/memory_files.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

ShapeAnswer shape_of(MemoryFiles& files, std::vector<std::string> paths) {
  ShapeRequest request;
  request.paths = std::move(paths);
  auto answer = shape_once(request, files);
  EXPECT_TRUE(answer) << answer.error().context;
  return answer ? std::move(*answer) : ShapeAnswer{};
}

std::string said(const ShapeAnswer& answer) {
  if (answer.report.findings.empty()) return "nothing";
  const Finding& first = answer.report.findings.front();
  return fmt::format("{} {}: {}", severity_name(first.severity), cause_name(first.cause),
                     first.summary);
}

// ---- logs of trainers: 300 steps with a compile at the start, saves and evaluations
// ----------------

struct Moment {
  int step = 0;
  double at_s = 0, step_s = 0;
  double loss() const { return 2.5 / (1 + step * 0.01); }
  double rate() const { return 262144 / step_s; }
  std::string clock() const {
    const int s = static_cast<int>(at_s) + 36000;
    return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  }
};

struct Dialect {
  const char* name;
  std::string (*step)(const Moment&);
  std::string (*save)(const Moment&, double seconds);
  std::string (*eval)(const Moment&, double seconds);
};

constexpr int kSteps = 300, kSaveEvery = 120, kEvalEvery = 75;
constexpr double kSaveS = 60, kEvalS = 40;

std::string bar(const char* label, int done, int total, double elapsed_s, double step_s) {
  const int s = static_cast<int>(elapsed_s);
  return fmt::format("{}{:3}%|###       | {}/{} [{:02}:{:02}<10:00, {:5.2f}s/it", label,
                     100 * done / total, done, total, s / 60, s % 60, step_s);
}

const Dialect kDialects[] = {
    {"plain",
     [](const Moment& m) {
       return fmt::format("[{}] step {}/300 loss {:.4f} tok/s {:.0f}\n", m.clock(), m.step,
                          m.loss(), m.rate());
     },
     [](const Moment& m, double s) {
       return fmt::format("[{}] saving checkpoint step_{}\n[{}] checkpoint saved in {:.1f} s\n",
                          m.clock(), m.step, m.clock(), s);
     },
     [](const Moment& m, double s) {
       return fmt::format("[{}] running evaluation\n[{}] evaluation done in {:.1f} s\n", m.clock(),
                          m.clock(), s);
     }},
    {"bars",
     [](const Moment& m) {
       return bar("", m.step, 300, m.at_s, m.step_s) +
              fmt::format(
                  "]\r{{'loss': {:.4f}, 'grad_norm': 0.9, 'learning_rate': 9e-06, 'epoch': "
                  "{:.2f}}}\n",
                  m.loss(), m.step / 300.0);
     },
     [](const Moment& m, double) {
       return fmt::format("Saving model checkpoint to out/checkpoint-{}\n", m.step);
     },
     [](const Moment&, double s) {
       return bar("", 1, 20, 2, s / 20) + "]\r" + bar("", 20, 20, s, s / 20) +
              "]\n{'eval_loss': 1.9, 'eval_runtime': 40.0, 'epoch': 0.3}\n";
     }},
    {"json_lines",
     [](const Moment& m) {
       const int s = static_cast<int>(m.at_s);
       return fmt::format(
           R"({{"current_steps": {}, "total_steps": 300, "loss": {:.4f}, "lr": 9e-06, )"
           R"("epoch": 0.4, "elapsed_time": "{}:{:02}:{:02}", "throughput": {:.1f}}})"
           "\n",
           m.step, m.loss(), s / 3600, s / 60 % 60, s % 60, m.rate());
     },
     nullptr, nullptr},
    {"titan",
     [](const Moment& m) {
       return fmt::format(
           "[titan] 2026-08-01 {},000 - root - INFO - \x1b[31mstep: {:3}  \x1b[32mloss: "
           "{:7.4f}  memory: 150.21GiB(78.4%)  tps: {:.0f}  tflops: 690.10  mfu: 30.7%\n",
           m.clock(), m.step, m.loss(), m.rate());
     },
     [](const Moment& m, double s) {
       return fmt::format(
           "[titan] 2026-08-01 {},000 - root - INFO - Saving the checkpoint\n[titan] "
           "2026-08-01 {},000 - root - INFO - Finished saving the checkpoint in {:.2f} "
           "seconds\n",
           m.clock(), m.clock(), s);
     },
     [](const Moment& m, double) {
       return fmt::format(
           "[titan] 2026-08-01 {},000 - root - INFO - validate step: {}  loss: 2.0\n", m.clock(),
           m.step);
     }},
    {"megatron",
     [](const Moment& m) {
       return fmt::format(
           " [2026-08-01 {}] iteration {:8}/     300 | consumed samples: {} | elapsed time "
           "per iteration (ms): {:.1f} | learning rate: 9.1E-06 | lm loss: {:.6E} | number "
           "of nan iterations:   0 |\n",
           m.clock(), m.step, m.step * 128, m.step_s * 1e3, m.loss());
     },
     [](const Moment& m, double) {
       return fmt::format(
           "saving checkpoint at iteration {:7} to /ckpt in torch_dist format\n  "
           "successfully saved checkpoint from iteration {:7} to /ckpt\n",
           m.step, m.step);
     },
     [](const Moment& m, double) {
       return fmt::format(
           " validation loss at iteration {} | lm loss value: 2.0E+00 | lm loss PPL: "
           "7.4E+00 |\n",
           m.step);
     }},
    {"deepspeed",
     [](const Moment& m) {
       return fmt::format(
           "[2026-08-01 {},102] [INFO] [timer.py:264:stop] epoch=0/micro_step={}/"
           "global_step={}, RunningAvgSamplesPerSec=25.9, CurrSamplesPerSec={:.2f}\n"
           "[2026-08-01 {},103] [INFO] [logging.py:107:log_dist] [Rank 0] step={}, "
           "skipped=0, lr=[9.1e-06], mom=[(0.9, 0.95)]\n",
           m.clock(), m.step * 4, m.step, 128 / m.step_s, m.clock(), m.step);
     },
     [](const Moment& m, double) {
       return fmt::format(
           "[2026-08-01 {},500] [INFO] [torch_checkpoint_engine.py:21:save] Saving "
           "ckpt/global_step{}/mp_rank_00_model_states.pt...\n",
           m.clock(), m.step);
     },
     nullptr},
    {"torchtune",
     [](const Moment& m) {
       return fmt::format("Step {} | loss:{:.4f} lr:9e-06 tokens_per_second_per_gpu:{:.1f}\n",
                          m.step, m.loss(), m.rate() / 8);
     },
     nullptr, nullptr},
    {"nano",
     [](const Moment& m) {
       return fmt::format("iter {}: loss {:.4f}, time {:.2f}ms, mfu 30.70%\n", m.step, m.loss(),
                          m.step_s * 1e3);
     },
     [](const Moment&, double) { return std::string("saving checkpoint to out\n"); },
     [](const Moment& m, double) {
       return fmt::format("step {}: train loss 2.0000, val loss 2.1000\n", m.step);
     }},
    {"chat",
     [](const Moment& m) {
       return fmt::format(
           "step {:05}/00300 ({:.2f}%) | loss: {:.6f} | dt: {:.2f}ms | tok/sec: {:.0f} | "
           "mfu: 30.70\n",
           m.step, m.step / 3.0, m.loss(), m.step_s * 1e3, m.rate());
     },
     nullptr,
     [](const Moment& m, double) {
       return fmt::format("Step {:05} | Validation bpb: 0.9\n", m.step);
     }},
    {"composer",
     [](const Moment& m) {
       return fmt::format(
           "[batch={}/300]:\n\t Train loss/train/total: {:.4f}\n\t Train "
           "throughput/tokens_per_sec: {:.1f}\n",
           m.step, m.loss(), m.rate());
     },
     nullptr,
     [](const Moment&, double) {
       return std::string(
           "[Eval batch=1/20] Eval on eval data\n[Eval batch=20/20] Eval on eval data\n");
     }},
    {"rl",
     [](const Moment& m) {
       return fmt::format(
           "step:{} - actor/loss:{:.4f} - timing_s/step:{:.2f} - perf/throughput:{:.1f}\n", m.step,
           m.loss(), m.step_s, m.rate());
     },
     nullptr, nullptr},
};

// `slow_from`: step from which all take 40 % longer.
std::string log_of(const Dialect& dialect, int slow_from = kSteps + 1) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(1, 0.004);
  std::string log = "Loading the dataset\ntorch._inductor: autotuning matmul\n";
  Moment m;
  for (m.step = 1; m.step <= kSteps; ++m.step) {
    m.step_s = 4.95 * noise(random) * (m.step >= slow_from ? 1.4 : 1) * (m.step == 1 ? 20 : 1);
    m.at_s += m.step_s;
    log += dialect.step(m);
    if (m.step % kSaveEvery == 0 && dialect.save != nullptr) {
      log += dialect.save(m, kSaveS);
      m.at_s += kSaveS;
    }
    if (m.step % kEvalEvery == 0 && dialect.eval != nullptr) {
      log += dialect.eval(m, kEvalS);
      m.at_s += kEvalS;
    }
  }
  return log;
}

class Trainers : public testing::TestWithParam<Dialect> {};

TEST_P(Trainers, HealthyLogsHaveNothingToWatch) {
  MemoryFiles files;
  files.add("train.log", log_of(GetParam()));
  const ShapeAnswer answer = shape_of(files, {"train.log"});
  for (const Finding& finding : answer.report.findings) {
    EXPECT_EQ(finding.severity, Severity::ok) << finding.summary;
  }
  EXPECT_TRUE(answer.report.blind.empty());
  ASSERT_EQ(answer.plots.size(), 1u);
  EXPECT_GE(answer.plots[0].x.size(), 298u);
}

TEST_P(Trainers, SlowOnesAreSeen) {
  MemoryFiles files;
  files.add("train.log", log_of(GetParam(), 200));
  const ShapeAnswer answer = shape_of(files, {"train.log"});
  ASSERT_FALSE(answer.report.findings.empty());
  EXPECT_EQ(answer.report.findings[0].severity, Severity::warning) << said(answer);
  EXPECT_NE(said(answer).find("40 % slower since step 20"), std::string::npos) << said(answer);
}
INSTANTIATE_TEST_SUITE_P(Shape, Trainers, testing::ValuesIn(kDialects),
                         [](const auto& row) { return row.param.name; });

// ---- what comes in
// -------------------------------------------------------------------------------

std::string table(int rows, double step_s) {
  std::string text = "step,step_time\n";
  for (int i = 0; i < rows; ++i) text += fmt::format("{},{:.3f}\n", i, step_s + 0.001 * (i % 3));
  return text;
}

TEST(ShapeInput, WhatCannotBeUsedIsSaidInOneSentence) {
  struct Row {
    const char* name;
    const char* text;
    const char* part;
  };
  for (const Row& row : {
           Row{"words.txt", "nothing of interest\n", "no step in what was read"},
           {"empty.csv", "", "no step in what was read"},
           {"heading.csv", "step,step_time\n", "no step in what was read"},
           {"other.csv", "timestamp, index, power.draw [W]\n1, 0, 700 W\n", "no step"},
           {"prom.json", R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
            "no metric of training steps"},
           {"cut.json", R"({"status":"success","data":{"resultType":"ma)", "cut or damaged"},
           {"no.json", R"({"status":"error","errorType":"bad","error":"x"})", "query failed"},
       }) {
    MemoryFiles files;
    files.add(row.name, row.text);
    ShapeRequest request;
    request.paths = {row.name};
    const auto answer = shape_once(request, files);
    ASSERT_FALSE(answer) << row.name;
    EXPECT_NE(answer.error().context.find(row.part), std::string::npos) << answer.error().context;
    EXPECT_EQ(answer.error().context.find('\n'), std::string::npos);
  }
  MemoryFiles none;
  ShapeRequest request;
  request.paths = {"gone.csv"};
  EXPECT_FALSE(shape_once(request, none));
}

TEST(ShapeInput, ColumnsThatAreNotThere) {
  MemoryFiles files;
  files.add("t.csv", "a,b\n1,2\n");
  ShapeRequest request;
  request.paths = {"t.csv"};
  request.input.columns = *parse_step_columns("step=a,step_time=c");
  const auto answer = shape_once(request, files);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().context, "t.csv: no column is called 'c'");
}

// One bad file does not hide what the others say, and is not silently left out.
TEST(ShapeInput, OneOfSeveralCannotBeRead) {
  MemoryFiles files;
  files.add("run/steps.csv", table(100, 2));
  files.add("run/prom.json", R"({"status":"success","data":{"resultType":"ma)");
  const ShapeAnswer answer = shape_of(files, {"run", "gone.csv"});
  EXPECT_EQ(said(answer), "nothing");
  ASSERT_EQ(answer.report.blind.size(), 2u);
  EXPECT_EQ(answer.report.blind[0].source, "gone.csv");
  EXPECT_EQ(answer.report.blind[1].source, "run/prom.json");
}

TEST(ShapeInput, AFolderWithEvidence) {
  MemoryFiles files;
  files.add("run/steps.csv", table(50, 60));
  files.add("run/net/nccl.log",
            "x1:4:5 [0] NCCL INFO Using network IB\nx2:4:5 [0] NCCL INFO Using network Socket\n");
  files.add("run/base.env", "EXPECTED_STEP_TIME_S=4\n");
  const ShapeAnswer answer = shape_of(files, {"run"});
  EXPECT_EQ(said(answer).substr(0, 29), "critical nccl_socket_fallback");
  EXPECT_EQ(answer.report.findings[0].culprits[0].id, "x2");
}

TEST(ShapeInput, SeveralCurvesAreNamed) {
  MemoryFiles files;
  files.add("a.csv", table(100, 2));
  std::string slow = table(60, 2);
  for (int i = 60; i < 100; ++i) slow += fmt::format("{},3.0\n", i);
  files.add("b.csv", slow);
  const ShapeAnswer answer = shape_of(files, {"a.csv", "b.csv"});
  EXPECT_EQ(answer.plots.size(), 2u);
  ASSERT_EQ(answer.report.findings.size(), 1u);
  EXPECT_EQ(answer.report.findings[0].summary.substr(0, 6), "b.csv:");
}

TEST(ShapeInput, LogsOfRanksSayItOnce) {
  MemoryFiles files;
  std::string slow = table(60, 2);
  for (int i = 60; i < 100; ++i) slow += fmt::format("{},3.0\n", i);
  for (int rank = 0; rank < 4; ++rank) files.add(fmt::format("logs/rank{}.csv", rank), slow);
  const ShapeAnswer answer = shape_of(files, {"logs"});
  EXPECT_EQ(answer.plots.size(), 4u);
  ASSERT_EQ(answer.report.findings.size(), 1u);
  EXPECT_EQ(answer.report.findings[0].evidence.size(), 4u);
}

TEST(ShapeInput, AttemptsOfOneRunAreJoined) {
  MemoryFiles files;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::string log = "step,step_time\n";
    for (int i = 0; i < 200; ++i) {
      log += fmt::format("{},{:.3f}\n", attempt * 200 + i, 2 + 0.002 * i + 0.003 * (i % 3));
    }
    files.add(fmt::format("attempt{}.csv", attempt), log);
  }
  const ShapeAnswer answer = shape_of(files, {"attempt0.csv", "attempt1.csv", "attempt2.csv"});
  EXPECT_EQ(answer.plots.size(), 1u);
  EXPECT_EQ(said(answer).substr(0, 17), "warning gc_pauses") << said(answer);
}

TEST(ShapeInput, AnUnknownLogWithAPattern) {
  MemoryFiles files;
  std::string log;
  for (int i = 0; i < 100; ++i)
    log += fmt::format("~ {} of 100 done, {:.2f} sec\n", i, i < 70 ? 2. : 3.);
  files.add("odd.log", log);
  ShapeRequest request;
  request.paths = {"odd.log"};
  EXPECT_FALSE(shape_once(request, files));
  request.input.pattern = *UserPattern::compile(R"(~ (?P<step>\d+) of .* (?P<dt>\S+) sec)");
  const auto answer = shape_once(request, files);
  ASSERT_TRUE(answer);
  EXPECT_EQ(said(*answer).substr(0, 20), "warning undetermined") << said(*answer);
}

TEST(ShapeInput, StepsWithoutASpeedAreBlind) {
  MemoryFiles files;
  std::string log;
  for (int i = 0; i < 50; ++i) log += fmt::format("step {}/50 loss 2.0\n", i);
  files.add("train.log", log);
  const ShapeAnswer answer = shape_of(files, {"train.log"});
  EXPECT_EQ(said(answer), "nothing");
  ASSERT_EQ(answer.report.blind.size(), 1u);
  EXPECT_TRUE(answer.report.blind[0].hides_critical);
}

TEST(ShapeInput, AFewStepsAreNoShape) {
  MemoryFiles files;
  files.add("a.csv", table(4, 2));
  const ShapeAnswer answer = shape_of(files, {"a.csv"});
  EXPECT_EQ(said(answer), "nothing");
  ASSERT_EQ(answer.report.blind.size(), 1u);
  EXPECT_NE(answer.report.blind[0].reason.find("too few"), std::string::npos);
}

TEST(ShapeInput, AStartThatHangs) {
  MemoryFiles files;
  std::string log = "world_size=4\n";
  for (const int rank : {0, 1, 3}) log += fmt::format("[rank{}]: Loading the model\n", rank);
  files.add("start.log", log);
  const ShapeAnswer answer = shape_of(files, {"start.log"});
  ASSERT_EQ(answer.report.findings.size(), 1u);
  EXPECT_EQ(answer.report.findings[0].culprits[0].id, "2");
}

// A pipe without a writer would hold the reading for ever.
TEST(ShapeInput, PipesAndLinksInAFolderAreToldNotRead) {
  const testing_support::TemporaryFolder folder;
  folder.write("a.csv", table(60, 2));
  const std::string root = testing_support::shell_word(folder.path());
  ASSERT_EQ(
      testing_support::run_shell("cd " + root + " && mkfifo b.log && ln -s a.csv c.csv").status, 0);
  const auto input = read_shape_inputs({folder.path()}, {}, real_files());
  ASSERT_TRUE(input);
  ASSERT_EQ(input->curves.size(), 1u);
  ASSERT_EQ(input->notes.size(), 2u);
  EXPECT_NE(input->notes[0].find("b.log: a pipe"), std::string::npos) << input->notes[0];
  EXPECT_NE(input->notes[1].find("c.csv: a link"), std::string::npos) << input->notes[1];
}

}  // namespace
}  // namespace muster
