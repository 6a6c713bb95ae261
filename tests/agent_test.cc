#include <gtest/gtest.h>

#include <string>

#include "tests/support/shell.h"

// The real agent on a fake driver, asked with a real client.

namespace muster {
namespace {

using namespace testing_support;

const std::string kBuild = MUSTER_BINARY_DIR;
const std::string kMuster = shell_word(kBuild + "/cmd/muster");

const std::string kFake =
    "MUSTER_NVML=" + shell_word(kBuild + "/fake_nvml/libnvidia-ml.so.1") + " ";

// Runs the agent, waits for its address and a sample, runs `ask` with $URL, ends it by SIGTERM.
ShellRun with_agent(const TemporaryFolder& folder, const std::string& options,
                    const std::string& ask) {
  const std::string scenario = folder.write(
      "gpus",
      "gpu uuid=GPU-a pci=00000000:18:00.0 name=H100 power=600 limit=700 util=100 temperature=60\n"
      "gpu uuid=GPU-b pci=00000000:19:00.0 name=H100 power=150 limit=700 util.fail=15\n");
  const std::string said = shell_word(folder.path() + "/said");
  return run_shell(kFake + "MUSTER_FAKE_NVML=" + shell_word(scenario) + " " + kMuster +
                   " agent --listen 127.0.0.1:0 " + options + " 2> " + said +
                   " & pid=$!\n"
                   "for i in $(seq 100); do URL=$(sed -n 's,.*\\(http://[0-9.:]*\\)/.*,\\1,p' " +
                   said +
                   "); [ -n \"$URL\" ] && curl -sf \"$URL/healthz\" > /dev/null && break; "
                   "sleep 0.1; done\n" +
                   ask + "\nkill -TERM $pid; wait $pid; echo \"ended $?\"");
}

TEST(Agent, PagesAndEnd) {
  if (const auto why = reason_to_skip("curl"); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const auto run = with_agent(folder, "", "curl -s $URL/metrics; curl -s $URL/healthz");
  for (const char* words : {"muster_gpu_power_watts{", "uuid=\"GPU-a\"", "} 600\n",
                            "muster_absent{", "muster_agent_sample_age_seconds{",
                            "muster_agent_cpu_seconds_total ", "muster_agent_resident_bytes ",
                            "muster_agent_reader_stuck 0", "newest sample: ", "ended 0"}) {
    EXPECT_NE(run.output.find(words), std::string::npos) << words << " in\n" << run.output;
  }
}

TEST(Agent, PromtoolLikesThePage) {
  for (const char* tool : {"curl", "promtool"}) {
    if (const auto why = reason_to_skip(tool); !why.empty()) GTEST_SKIP() << why;
  }
  const TemporaryFolder folder;
  const auto run =
      with_agent(folder, "", "curl -s $URL/metrics | promtool check metrics; echo \"promtool $?\"");
  EXPECT_NE(run.output.find("promtool 0\n"), std::string::npos) << run.output;
}

TEST(Agent, KeepsAHistory) {
  if (const auto why = reason_to_skip("curl"); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/h.db";
  const auto run = with_agent(folder, "--interval 0.1 --history " + shell_word(file), "sleep 1");
  EXPECT_NE(run.output.find("ended 0"), std::string::npos) << run.output;
  EXPECT_NE(file_text(file).find("GPU-b"), std::string::npos);
}

// Killed and started again it goes on in the file that is there.
TEST(Agent, GoesOnInAHistoryThatIsThere) {
  if (const auto why = reason_to_skip("curl"); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/h.db";
  const std::string options = "--interval 0.1 --history " + shell_word(file);
  const auto first = with_agent(folder, options, "kill -9 $pid");
  EXPECT_NE(first.output.find("ended 137"), std::string::npos) << first.output;
  for (int i = 0; i < 2; ++i) {
    const auto next = with_agent(folder, options, "curl -s $URL/metrics | grep -c power_watts");
    EXPECT_NE(next.output.find("ended 0"), std::string::npos) << next.output;
    EXPECT_EQ(file_text(folder.path() + "/said").find("history"), std::string::npos);
  }
}

TEST(Agent, SaysThatThePortIsTaken) {
  if (const auto why = reason_to_skip("curl"); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const auto run =
      with_agent(folder, "",
                 kFake + "MUSTER_FAKE_NVML=" + shell_word(folder.path() + "/gpus") + " " + kMuster +
                     " agent --listen ${URL#http://} 2>&1; echo \"second $?\"");
  EXPECT_NE(run.output.find(": another program listens there\nsecond 70\n"), std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("ended 0"), std::string::npos) << run.output;
}

// The unit file as systemd understands it; the program stands where it was built.
TEST(Agent, TheUnitFileIsSound) {
  if (const auto why = reason_to_skip("systemd-analyze"); !why.empty()) GTEST_SKIP() << why;
  std::string unit = file_text(std::string(MUSTER_SOURCE_DIR) + "/packaging/muster-agent.service");
  const std::string program = "/usr/local/bin/muster";
  const std::size_t at = unit.find(program);
  ASSERT_NE(at, std::string::npos);
  unit.replace(at, program.size(), kBuild + "/cmd/muster");
  const TemporaryFolder folder;
  const auto run = run_shell("systemd-analyze verify --man=no " +
                             shell_word(folder.write("muster-agent.service", unit)));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.output, "");
}

TEST(Agent, Refusals) {
  struct Row {
    const char* name;
    std::string command;
    int status;
    const char* words;
  };
  const Row rows[] = {
      {"no driver", "MUSTER_NVML=/nonexistent.so " + kMuster + " agent", 65, "no NVML"},
      {"no driver, triage", "MUSTER_NVML=/nonexistent.so " + kMuster + " triage nvml", 65,
       "/nonexistent.so"},
      {"no driver, record",
       "cd /tmp && MUSTER_NVML=/nonexistent.so " + kMuster + " record nvml -o never.zst", 65,
       "/nonexistent.so"},
      {"no driver, top", "MUSTER_NVML=/nonexistent.so " + kMuster + " top nvml", 65,
       "/nonexistent.so"},
      {"interval", kMuster + " agent --interval 0.05", 64, "0.1 to 3600"},
      {"not a number", kMuster + " agent --interval nan", 64, ""},
      {"keep", kMuster + " agent --keep-h 0", 64, "--keep-h"},
      {"port alone", kMuster + " agent --listen :9835", 64, "ADDRESS:PORT"},
      {"not ours", kFake + kMuster + " agent --listen 192.0.2.1:9835", 70, "no such address"},
      {"name", kMuster + " agent --listen localhost:9835", 64, "ADDRESS:PORT"},
  };
  for (const Row& row : rows) {
    const auto run = run_shell(row.command);
    EXPECT_EQ(run.status, row.status) << row.name << ": " << run.output;
    EXPECT_NE(run.output.find(row.words), std::string::npos) << row.name << ": " << run.output;
  }
}

}  // namespace
}  // namespace muster
