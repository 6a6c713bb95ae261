#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/shell.h"

// Real PyTorch still does what testdata/flight/ recorded of it: make_flight_dumps.py trains with
// every fault once more and complains where a rank ends otherwise, or leaves no dump.

namespace muster {
namespace {

using testing_support::file_text;
using testing_support::run_shell;
using testing_support::shell_word;
using testing_support::ShellRun;
using testing_support::TemporaryFolder;

const std::string kScript = std::string(MUSTER_SOURCE_DIR) + "/tests/pytorch/make_flight_dumps.py";

// The Python to run it with; empty: none was named.
std::string python() {
  const char* path = std::getenv("MUSTER_PYTORCH");
  return path == nullptr ? "" : path;
}

constexpr const char* kReason =
    "MUSTER_PYTORCH is not set: name a Python that has torch 2.8 or newer";

TEST(FlightDumps, AreMadeAgain) {
  if (python().empty()) GTEST_SKIP() << kReason;
  const TemporaryFolder folder;
  // Nothing may be written into the tree.
  const ShellRun run = run_shell("PYTHONDONTWRITEBYTECODE=1 " + shell_word(python()) + " " +
                                 shell_word(kScript) + " " + shell_word(folder.path()));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.output.find("WRONG"), std::string::npos) << run.output;
  const std::string hang = folder.path() + "/hang";
  EXPECT_NE(file_text(hang + "/truth.json").find("\"behind\""), std::string::npos);
  // Protocol 2 of pickle, and the form of the recorder that testdata/flight/ holds.
  const std::string dump = file_text(hang + "/pickle/comm_lib_trace_rank_0");
  EXPECT_EQ(dump.substr(0, 2), "\x80\x02");
  EXPECT_NE(dump.find("gloo:all_gather"), std::string::npos);
  EXPECT_NE(file_text(hang + "/json/comm_lib_trace_rank_0").find("gloo:all_gather"),
            std::string::npos);
}

TEST(FlightDumps, AnUnknownScenarioIsRefused) {
  if (python().empty()) GTEST_SKIP() << kReason;
  const TemporaryFolder folder;
  const ShellRun run = run_shell("PYTHONDONTWRITEBYTECODE=1 " + shell_word(python()) + " " +
                                 shell_word(kScript) + " " + shell_word(folder.path()) + " hung");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("no scenario is called hung"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace muster
