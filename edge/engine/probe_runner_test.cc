#include "edge/engine/probe_runner.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "edge/engine/native_probes.h"
#include "edge/engine/probe_child.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

using health::ProbeEnd;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ProbeChild, EndsInEveryWay) {
  const auto shell = [](const char* script, Duration deadline = seconds(20)) {
    return run_probe_child({"sh", "-c", script}, deadline, 64);
  };
  auto answer = run_probe_child({"no-such-program-of-muster"}, seconds(1), 64);
  EXPECT_EQ(answer.end, ProbeEnd::missing);
  EXPECT_TRUE(answer.parts.empty());
  answer = shell("printf out; printf words >&2; exit 3");
  EXPECT_EQ(answer.end, ProbeEnd::done);
  EXPECT_EQ(answer.status, 3);
  EXPECT_EQ(answer.parts.at(0).bytes, "out");
  EXPECT_EQ(answer.complaint, "words");
  answer = shell("head -c 100 /dev/zero");
  EXPECT_EQ(answer.end, ProbeEnd::truncated);
  EXPECT_EQ(answer.parts.at(0).bytes.size(), 64u);
  answer = shell("kill -9 $$");
  EXPECT_EQ(answer.status, 128 + 9);
  EXPECT_EQ(shell("printf \"$LC_ALL\"").parts.at(0).bytes, "C");
  EXPECT_EQ(shell("cat").parts.at(0).bytes, "");
}

TEST(ProbeChild, IsKilledWithItsGroupAndWhatItWroteStands) {
  // The grandchild holds the pipe as well: only its death ends the read.
  const MonoTime start = system_clock().mono();
  const auto answer =
      run_probe_child({"sh", "-c", "printf part; sleep 600 & sleep 600"}, milliseconds(500), 64);
  EXPECT_EQ(answer.end, ProbeEnd::timeout);
  EXPECT_EQ(answer.parts.at(0).bytes, "part");
  EXPECT_LT(system_clock().mono() - start, seconds(60));
}

TEST(ProbeFiles, ReadsWhatPatternsName) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "muster_probe_files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a1") << "one";
  std::ofstream(folder / "a2") << "two";
  const std::string at = folder.string();
  auto answer = read_probe_files(at + "/a* " + at + "/none*", 64);
  EXPECT_EQ(answer.end, ProbeEnd::done);
  ASSERT_EQ(answer.parts.size(), 2u);
  EXPECT_EQ(answer.parts[1].name, at + "/a2");
  EXPECT_EQ(answer.parts[1].bytes, "two");
  EXPECT_EQ(read_probe_files(at + "/none*", 64).end, ProbeEnd::missing);
  EXPECT_EQ(read_probe_files(at + "/a*", 4).end, ProbeEnd::truncated);
  std::filesystem::remove_all(folder);
}

// This machine, whatever it is: every row has an answer of its own.
TEST(ProbeThisHost, AnswersEveryRow) {
  const health::HostProbe host = probe_this_host();
  EXPECT_EQ(host.reach, health::Reach::reached);
  EXPECT_FALSE(host.host.empty());
  for (const health::Probe& probe : health::probe_table()) {
    const health::ProbeAnswer* const answer = host.find(probe.id);
    ASSERT_NE(answer, nullptr) << probe.id;
    EXPECT_NE(answer->end, ProbeEnd::not_run) << probe.id;
  }
  EXPECT_EQ(host.find("limits")->end, ProbeEnd::done);
  EXPECT_EQ(host.find("stuck_processes")->end, ProbeEnd::done);
}

}  // namespace
}  // namespace muster
