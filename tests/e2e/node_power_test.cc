#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/support/halves_trial.h"
#include "tests/support/shell.h"
#include "tests/support/simulated_nodes.h"

// Whole-node power: a healthy run calibrates on its first half; its second half gives no alarm, and
// hangs that are put into it are found in time. Simulated runs always; recordings of real ones
// where somebody has some: MUSTER_RECORDINGS names a folder of pairs
// STEM_node_ac_power_long.csv[.gz] and STEM_events.csv (columns time_ms,node,power_w, and rows of
// an MLPerf log).

namespace muster {
namespace {

using testing_support::run_shell;
using testing_support::shell_word;

void expect_good(const HalvesTrial& trial) {
  for (const std::string& complaint : trial.complaints) {
    ADD_FAILURE() << trial.name << ": " << complaint;
  }
}

// The same by the program and its files: no finding above info in the second half, with and without
// the log.
void expect_the_program_agrees(const PowerRecording& r) {
  const testing_support::TemporaryFolder folder;
  const std::string columns = " --columns time=time_ms,host=node,node_power_w=power_w ";
  const std::string muster = shell_word(std::string(MUSTER_BINARY_DIR) + "/cmd/muster");
  folder.write("first.csv", cut(r, {}, middle(r)).power_csv());
  folder.write("first.log", cut(r, {}, middle(r)).log_csv());
  folder.write("second.csv", cut(r, middle(r), WallTime::max()).power_csv());
  folder.write("run.log", r.log_csv());
  const std::string go = "cd " + shell_word(folder.path()) + " && " + muster;
  const auto calibrated =
      run_shell(go + " calibrate first.csv --steps first.log -o c.toml" + columns);
  EXPECT_EQ(calibrated.status, 0) << r.name << calibrated.output;
  for (const char* log : {"", "--steps run.log"}) {
    const auto judged = run_shell(go + " triage second.csv --calibration c.toml " + log + columns);
    EXPECT_EQ(judged.status, 0) << r.name << ", " << log << "\n" << judged.output;
  }
}

TEST(NodePower, SimulatedRuns) {
  constexpr std::uint64_t kFirst = 20'000;
  HalvesTrial::Hangs waits, silences;
  for (std::uint64_t seed = kFirst; seed < kFirst + 20; ++seed) {
    const PowerRecording run = simulate_nodes(seed);
    const HalvesTrial trial = try_halves(run, {}, 1, seed % 5 == 0 ? 1 : 0);
    expect_good(trial);
    waits.found += trial.waits.found, silences.found += trial.silences.found;
  }
  EXPECT_EQ(waits.found, 40);
  EXPECT_EQ(silences.found, 4);
}

TEST(NodePower, TheProgramAgreesOnASimulatedRun) {
  expect_the_program_agrees(simulate_nodes(7));
}

TEST(NodePower, RecordingsOfRealRuns) {
  const char* folder = std::getenv("MUSTER_RECORDINGS");
  if (folder == nullptr) GTEST_SKIP() << "MUSTER_RECORDINGS names no folder of recordings";
  const auto recordings = read_recordings(folder);
  ASSERT_FALSE(recordings.empty()) << "no STEM_node_ac_power_long.csv[.gz] in " << folder;
  for (const PowerRecording& recording : recordings) {
    const HalvesTrial trial = try_halves(recording, recordings, 12, 3);
    std::cout << trial.row() << "\n";
    expect_good(trial);
    expect_the_program_agrees(recording);
  }
}

}  // namespace
}  // namespace muster
