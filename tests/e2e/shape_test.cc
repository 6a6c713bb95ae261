#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/shape_run.h"
#include "tests/support/shell.h"

// `muster shape` as a person meets it; and the step times of real runs, where somebody has some.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::TemporaryFolder;

const std::string kShape = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster") + " shape ";
const std::string kData = std::string(MUSTER_SOURCE_DIR) + "/testdata/shape/";

struct UsageRow {
  const char* name;
  std::string arguments;
  int status;
  const char* says;
};

class ShapeUsage : public testing::TestWithParam<UsageRow> {};

TEST_P(ShapeUsage, SaysWhatIsMissing) {
  const auto run = run_shell("cd " + shell_word(kData) + " && " + kShape + GetParam().arguments);
  EXPECT_EQ(run.status, GetParam().status) << run.output;
  EXPECT_NE(run.output.find(GetParam().says), std::string::npos) << run.output;
  EXPECT_EQ(std::count(run.output.begin(), run.output.end(), '\n'), 1)
      << "one sentence" << run.output;
}
INSTANTIATE_TEST_SUITE_P(
    Rows, ShapeUsage,
    testing::Values(
        UsageRow{"nothing", "", 64, "name a log"},
        UsageRow{"gone", "nowhere.csv", 65, "nowhere.csv: No such file"},
        UsageRow{"no_steps", "run.yaml", 65, "no step in what was read"},
        UsageRow{"speed_of_words", "loader.csv --expect fast", 64, "4.95s"},
        UsageRow{"role_of_nobody", "loader.csv --columns speed=x", 64, "roles: step, step_time"},
        UsageRow{"column_of_nobody", "loader.csv --columns step=x", 65, "no column is called 'x'"},
        UsageRow{"pattern_without_step", "loader.csv --pattern 'x'", 64, "step"},
        UsageRow{"gpu_alone", "loader.csv --gpu H100", 64, "both --params and --gpu"},
        UsageRow{"gpu_of_nobody", "loader.csv --params 8b --gpu Z80", 64, "known are GB300"},
        UsageRow{"no_gpus", "loader.csv --params 8b --gpu H100 --gpus 0", 64, "from 1 on"},
        UsageRow{"picture_over_its_log", "loader.csv --svg loader.csv", 64, "would overwrite"},
        UsageRow{"picture_nowhere", "loader.csv --svg /nonexistent/x.svg", 74, "No such file"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Shape, ReadsStandardInputAndCompressedText) {
  const auto piped = run_shell(kShape + "- <" + shell_word(kData + "loader.csv"));
  EXPECT_EQ(piped.status, 1) << piped.output;
  EXPECT_NE(piped.output.find("every 6 steps"), std::string::npos) << piped.output;
  const TemporaryFolder folder;
  const auto packed = run_shell("gzip -c " + shell_word(kData + "loader.csv") + " >" +
                                shell_word(folder.path() + "/l.gz") + " && " + kShape +
                                shell_word(folder.path() + "/l.gz"));
  EXPECT_EQ(packed.status, 1) << packed.output;
}

TEST(Shape, AnswersAsOneDocument) {
  const auto run = run_shell(kShape + "--json " + shell_word(kData + "loader.csv"));
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output.substr(0, 28), R"({"schema":"muster.report/1",)");
  EXPECT_NE(run.output.find(R"("verb":"shape")"), std::string::npos);
  EXPECT_NE(run.output.find(R"("cause":"data_starvation")"), std::string::npos);
}

TEST(Shape, ReadsEventFiles) {
  const auto run = run_shell(kShape + shell_word(kData + "simple.tfevents"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("25 % slower since step 80"), std::string::npos) << run.output;
  EXPECT_EQ(run_shell(kShape + shell_word(kData + "tensor.tfevents")).status, 0);
}

// The printed rate is that of all GPUs together. Without a rate there is nothing to compute.
TEST(Shape, ComputesMfuFromTablesAndEventFiles) {
  const TemporaryFolder folder;
  std::string table = "step,loss,tokens_per_sec\n", times = "step,loss,step_time\n";
  for (int step = 1; step <= 60; ++step) {
    table += std::to_string(step) + ",1.8," + std::to_string(60'000 + step % 3) + "\n";
    times += std::to_string(step) + ",1.8,4.9" + std::to_string(step % 3) + "\n";
  }
  folder.write("rates.csv", table);
  folder.write("times.csv", times);
  struct Row {
    const char* name;
    std::string file, model, says;
  };
  // 6 x 8e9 x 60,001 / (8 x 989e12) = 36.4 %
  const Row rows[] = {
      {"no size", folder.path() + "/rates.csv", "", "rates.csv"},
      {"no rate", folder.path() + "/times.csv", "--params 8b --gpu H100", "so no MFU"},
      {"a table", folder.path() + "/rates.csv", "--params 8b --gpu H100 --gpus 8", "MFU 36.4 %"},
      {"too few GPUs", folder.path() + "/rates.csv", "--params 8b --gpu H100", "(--gpus)?"},
      {"an event file", kData + "tensor.tfevents", "--params 8b --gpu H100 --gpus 8", "MFU 32.1 %"},
  };
  for (const Row& row : rows) {
    const auto run = run_shell(kShape + shell_word(row.file) + " " + row.model);
    EXPECT_NE(run.output.find(row.says), std::string::npos) << row.name << run.output;
    const bool told = row.says.starts_with("MFU") || row.says.starts_with("(");
    EXPECT_EQ(run.output.find("MFU ") != std::string::npos, told) << row.name << run.output;
  }
}

TEST(Shape, MakesAPicture) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/curve.svg";
  run_shell(kShape + shell_word(kData + "loader.csv") + " --svg " + shell_word(file));
  const std::string svg = file_text(file);
  EXPECT_EQ(svg.substr(0, 5), "<svg ");
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(Shape, DrawsOnATerminalOnly) {
  if (const std::string reason = testing_support::reason_to_skip("script"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const auto on_terminal = [](const char* locale) {
    return run_shell("script -qec " +
                     shell_word(std::string("stty cols 80 rows 24; ") + locale + " NO_COLOR=1 " +
                                kShape + shell_word(kData + "loader.csv")) +
                     " /dev/null")
        .output;
  };
  const std::string dots = on_terminal("LC_ALL=C.UTF-8"), ascii = on_terminal("LC_ALL=C");
  EXPECT_NE(dots.find("\xe2\xa0"), std::string::npos) << dots;
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c > 0; }));
  EXPECT_NE(ascii.find(" +*"), std::string::npos) << ascii;
  EXPECT_NE(ascii.find("step 0"), std::string::npos) << ascii;
  const auto piped = run_shell("LC_ALL=C.UTF-8 " + kShape + shell_word(kData + "loader.csv"));
  EXPECT_EQ(piped.output.find("\xe2\xa0"), std::string::npos);
}

// MUSTER_RECORDINGS names a folder of MLPerf rows (STEM_events.csv: time_ms,key,step,value), of
// healthy runs: no alarm on any of them.
TEST(Shape, RecordingsOfRealRunsGiveNoAlarm) {
  const char* folder = std::getenv("MUSTER_RECORDINGS");
  if (folder == nullptr) GTEST_SKIP() << "MUSTER_RECORDINGS names no folder of recordings";
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().ends_with("_events.csv")) continue;
    ShapeRequest request;
    request.paths = {entry.path().string()};
    const auto answer = shape_once(request, real_files());
    ASSERT_TRUE(answer) << entry.path() << answer.error().context;
    for (const Finding& finding : answer->report.findings) {
      EXPECT_EQ(finding.severity, Severity::ok) << entry.path() << finding.summary;
    }
    ++read;
  }
  EXPECT_GT(read, 0) << "no STEM_events.csv in " << folder;
}

}  // namespace
}  // namespace muster
