#include <gtest/gtest.h>

#include <fmt/core.h>

#include <random>
#include <string>

#include "tests/support/shell.h"

// The stories that triage is for, as CSV text through the real binary. SIMULATED: 16 GPUs of 1100
// W.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

const std::string kMuster = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster");

// A recording of one second a sample from 06:00:00 UTC, and the step log beside it.
class Story {
 public:
  Story& compute(int seconds) {
    for (int s = 0; s < seconds; ++s) {
      if (second_ % 5 == 0)
        log_ += fmt::format("2026-11-30 {} step {}/4000 loss 0.7\n", clock(), ++step_);
      sample(985, [](int) { return 100; });
    }
    return *this;
  }
  // The power floor; only `rank` is not busy.
  Story& apart(int seconds, int rank) {
    for (int s = 0; s < seconds; ++s) sample(193, [=](int r) { return r == rank ? 0 : 100; });
    return *this;
  }
  Story& idle(int seconds) {
    for (int s = 0; s < seconds; ++s) sample(140, [](int) { return 0; });
    return *this;
  }
  const std::string& csv() const { return csv_; }
  const std::string& log() const { return log_; }

 private:
  std::string clock() const {
    return fmt::format("{:02}:{:02}:{:02}", 6 + second_ / 3600, second_ / 60 % 60, second_ % 60);
  }
  template <typename Util>
  void sample(double watts, Util util) {
    std::normal_distribution<double> jitter(1, 0.03);
    for (int rank = 0; rank < 16; ++rank) {
      csv_ += fmt::format(
          "2026/11/30 {}.000, n{}, {}, {}, NVIDIA B300 SXM6 AC, {:.2f} W, {} %, 1100.00 W\n",
          clock(), 1 + rank / 8, rank % 8, rank, watts * jitter(rng_), util(rank));
    }
    ++second_;
  }

  std::mt19937_64 rng_{17};
  int second_ = 0, step_ = 100;
  std::string csv_ =
      "timestamp, host, index, rank, name, power.draw [W], utilization.gpu [%], "
      "enforced.power.limit [W]\n";
  std::string log_;
};

Story healthy() {
  return Story().compute(90).apart(20, 0).compute(90);
}
Story hung() {
  return Story().compute(90).apart(130, 3);
}

ShellRun triage(const TemporaryFolder& folder, const std::string& arguments) {
  return run_shell("cd " + shell_word(folder.path()) + " && " + kMuster + " triage --tz UTC " +
                   arguments);
}

void expect_says(const ShellRun& run, const std::string& part) {
  EXPECT_NE(run.output.find(part), std::string::npos) << part << "\nnot in\n" << run.output;
}

TEST(Story, ASaveIsNotAHang) {
  const TemporaryFolder folder;
  folder.write("a.csv", healthy().csv());
  folder.write("train.log", healthy().log());
  EXPECT_EQ(triage(folder, "a.csv").status, 0);
  const auto run = triage(folder, "a.csv --steps train.log");
  EXPECT_EQ(run.status, 0) << run.output;
}

TEST(Story, AHangNamesTheRankApart) {
  const TemporaryFolder folder;
  folder.write("a.csv", hung().csv());
  folder.write("train.log", hung().log());
  const auto alone = triage(folder, "a.csv");
  // Without a log or a known save, two minutes at the floor could be a first save: a hint only.
  EXPECT_EQ(alone.status, 3) << alone.output;
  expect_says(alone, "rank 3");
  expect_says(alone, "low confidence");
  const auto with_log = triage(folder, "a.csv --steps train.log");
  EXPECT_EQ(with_log.status, 2) << with_log.output;
  expect_says(with_log, "rank 3");
  expect_says(with_log, "high confidence");
}

// A step log in local time beside a recording in UTC.
TEST(Story, ZonesOfTwoHosts) {
  const TemporaryFolder folder;
  std::string log = hung().log();
  for (std::size_t at = 0; (at = log.find(" 06:", at)) != std::string::npos;)
    log.replace(at, 4, " 15:");
  folder.write("a.csv", hung().csv());
  folder.write("train.log", log);
  const auto run = triage(folder, "a.csv train=train.log --tz train=Asia/Seoul");
  EXPECT_EQ(run.status, 2) << run.output;
  expect_says(run, "high confidence");
}

TEST(Story, ACutRecordingAccusesNobody) {
  const TemporaryFolder folder;
  const std::string csv = Story().compute(12).apart(3, 0).compute(12).csv();
  for (std::size_t at = 0; at < csv.size(); at += 1000) {
    folder.write("a.csv", std::string_view(csv).substr(0, at));
    const auto run = triage(folder, "a.csv");
    EXPECT_TRUE(run.status == 0 || run.status == 3 || (at == 0 && run.status == 65))
        << "cut at " << at << ": " << run.status << "\n"
        << run.output;
  }
}

TEST(CalibrateCommand, LearnUseMergeCompare) {
  const TemporaryFolder folder;
  folder.write("a.csv", healthy().csv());
  folder.write("train.log", healthy().log());
  folder.write("idle.csv", Story().idle(60).csv());
  const std::string calibrate = "cd " + shell_word(folder.path()) + " && " + kMuster +
                                " calibrate --tz UTC --steps train.log ";
  auto run = run_shell(calibrate + "a.csv -o good.toml");
  ASSERT_EQ(run.status, 0) << run.output;
  expect_says(run, "good.toml: written; power bands of ");
  EXPECT_EQ(triage(folder, "a.csv --calibration good.toml").status, 0);
  EXPECT_EQ(run_shell(calibrate + "a.csv --merge good.toml -o both.toml").status, 0);
  EXPECT_EQ(triage(folder, "a.csv --calibration both.toml").status, 0);
  expect_says(run_shell(calibrate + "a.csv --compare good.toml"), "nothing differs");

  run = run_shell(calibrate + "a.csv -o gone/good.toml");
  EXPECT_NE(run.status, 0) << run.output;
  expect_says(run, "gone/good.toml");
  run = run_shell(calibrate + "a.csv >/dev/full");
  EXPECT_EQ(run.status, 74) << run.output;
  run = run_shell("cd " + shell_word(folder.path()) + " && " + kMuster +
                  " calibrate idle.csv --tz UTC");
  EXPECT_NE(run.status, 0) << run.output;
}

// A hang is told wherever it stands: at the end, killed, or gone by itself. A short wait is none.
TEST(CalibrateCommand, DoubtsAHang) {
  struct Row {
    const char* name;
    Story story;
    bool log;
    const char* says;  // empty: no doubt
  };
  const char* kHang = "calls it collective_hang from 2026-11-30T06:02:30Z, rank 3 (n1/3) at 0 %";
  const auto saved = [] { return Story().compute(60).apart(30, 0).compute(60); };
  const Row rows[] = {
      {"healthy", healthy(), true, ""},
      {"short", saved().apart(60, 3).compute(120), false, ""},
      {"at its end", saved().apart(700, 3), false, kHang},
      {"at its end, with a log", saved().apart(700, 3), true, kHang},
      {"a hint", Story().compute(150).apart(240, 3), false,
       "calls it UNSURE, collective_hang from 2026-11-30T06:02:30Z, rank 3 (n1/3) at 0 %"},
      {"killed", saved().apart(700, 3).idle(60), false, kHang},
      {"went on", saved().apart(700, 3).compute(60), false, kHang},
      {"went on, with a log", saved().apart(700, 3).compute(60), true, kHang},
  };
  for (const Row& row : rows) {
    const TemporaryFolder folder;
    folder.write("a.csv", row.story.csv());
    folder.write("train.log", row.story.log());
    const auto run =
        run_shell("cd " + shell_word(folder.path()) + " && " + kMuster +
                  " calibrate --tz UTC a.csv -o good.toml" + (row.log ? " --steps train.log" : ""));
    EXPECT_EQ(run.status, 0) << row.name << "\n" << run.output;
    EXPECT_NE(run.output.find(row.says), std::string::npos) << row.name << "\n" << run.output;
    EXPECT_EQ(run.output.find("known-good") != std::string::npos, *row.says != '\0')
        << row.name << "\n"
        << run.output;
    EXPECT_FALSE(file_text(folder.path() + "/good.toml").empty()) << row.name;
  }
}

}  // namespace
}  // namespace muster
