#include "app/check_run.h"

#include <gtest/gtest.h>

#include "core/health/host_test_kit.h"
#include "core/model/exit_status.h"

namespace muster {
namespace {

using health::answer_in;
using health::ends;
using health::fit_host;
using health::HostProbe;
using health::says;

HostProbe host_with_log(std::string log) {
  HostProbe host = fit_host();
  says(host, "kernel_log", std::move(log));
  return host;
}

std::string kernel_text(const HostProbe& host, const CheckSettings& settings = {}) {
  std::string out;
  for (const health::CheckResult& result : check_probe(host, settings).results) {
    if (result.check != "kernel_log") continue;
    out += (out.empty() ? "" : "; ") + std::string(check_outcome_name(result.outcome));
    if (!result.text.empty()) out += ": " + result.text;
    if (result.cause) out += " !" + std::string(cause_name(*result.cause));
  }
  return out;
}

TEST(CheckRun, JudgesTheKernelsLog) {
  struct Row {
    const char* name;
    const char* log;
    const char* outcome;
  };
  const Row rows[] = {
      {"Xid 140", "<4>[ 9.1] NVRM: Xid (PCI:0000:9b:00): 140, pid=77, name=python, ECC\n", "fail"},
      {"Xid 63 is a note", "<4>[ 9.1] NVRM: Xid (PCI:0000:9b:00): 63, pid=77, Row Remapper\n",
       "pass"},
      {"Xid 79", "<4>[ 9.1] NVRM: Xid (PCI:0000:9b:00): 79, pid=77, GPU has fallen off the bus.\n",
       "fail"},
      {"off the bus, without a number",
       "<3>[ 9.1] NVRM: GPU at PCI:0000:9b:00: GPU-1\n<3>[ 9.1] NVRM: GPU 0000:9b:00.0: GPU has "
       "fallen off the bus.\n",
       "fail"},
      {"at whatever level", "<6>[ 9.1] NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU lost\n", "fail"},
      {"Xid 13 is a program's", "<4>[ 9.1] NVRM: Xid (PCI:0000:9b:00): 13, pid=7, Graphics\n",
       "pass"},
      {"nothing", "<6>[ 0.0] Linux version 6.5\n", "pass"},
      {"a grave line that nobody knows", "<1>[ 9.0] the fan tray has left\n", "warn: 1 lines"},
  };
  for (const Row& row : rows) {
    const std::string text = kernel_text(host_with_log(row.log));
    EXPECT_TRUE(text.starts_with(row.outcome)) << row.name << ": " << text;
  }
}

TEST(CheckRun, TheAllowListOfTheUserHidesNoKnownFault) {
  CheckSettings settings;
  settings.allowed = {"fan tray", "NVRM"};
  const std::string text = kernel_text(
      host_with_log("<1>[ 9.0] the fan tray has left\n<2>[ 9.1] NVRM: Xid (PCI:0000:9b:00): 79, "
                    "pid=77, GPU has fallen off the bus.\n"),
      settings);
  EXPECT_TRUE(text.starts_with("fail")) << text;
  EXPECT_EQ(text.find(';'), std::string::npos) << text;
}

TEST(CheckRun, ALogThatMayNotBeReadIsUnknown) {
  HostProbe host = fit_host();
  says(host, "kernel_log", "", 1, "dmesg: read kernel buffer failed: Operation not permitted");
  EXPECT_EQ(kernel_text(host),
            "unknown: kernel_log: dmesg: read kernel buffer failed: Operation not permitted");
  ends(host, "kernel_log", health::ProbeEnd::timeout);
  EXPECT_EQ(kernel_text(host), "unknown: kernel_log: no end in time");
  EXPECT_EQ(kernel_text(fit_host()), "unknown: kernel_log: no answer came");
  // One that was cut proves what stands in it, and nothing else.
  host = host_with_log("<4>[ 9.1] NVRM: Xid (PCI:0000:9b:00): 79, pid=7, GPU lost\n");
  answer_in(host, "kernel_log").end = health::ProbeEnd::truncated;
  EXPECT_TRUE(kernel_text(host).starts_with("fail"));
  says(host, "kernel_log", "<6>[ 9.1] fine\n");
  answer_in(host, "kernel_log").end = health::ProbeEnd::truncated;
  EXPECT_TRUE(kernel_text(host).starts_with("unknown: kernel_log: too large"));
}

TEST(CheckRun, OrdersHostsAndLearnsFromGoodOnes) {
  CheckRun run({});
  for (const char* name : {"n10", "n2", "n1"}) {
    HostProbe host = fit_host(name);
    says(host, "kernel_log", "");
    if (host.host == "n10") says(host, "nvidia_smi_query", health::gpu_lines(7));
    run.add(host);
  }
  ASSERT_EQ(run.hosts().size(), 3u);
  EXPECT_EQ(run.hosts()[0].host, "n1");
  EXPECT_EQ(run.hosts()[2].host, "n10");
  EXPECT_EQ(run.learn().hosts, 2u);
  EXPECT_EQ(run.learn().facts.at("gpu"), (std::set<std::string>{"8 x NVIDIA H100 80GB HBM3"}));
  const Report report = run.report();
  EXPECT_EQ(exit_status_of(report), ExitStatus::critical);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].cause, Cause::gpu_fell_off_bus);
  EXPECT_NE(run.ticket("n10").find("# n10: FAIL"), std::string::npos);
  EXPECT_EQ(run.ticket("n99"), "");
}

TEST(CheckRun, AHostThatWasNotReachedIsOneLine) {
  CheckRun run({});
  HostProbe host;
  host.host = "n1";
  host.reach = health::Reach::refused;
  host.complaint = "ssh: port 22: Connection refused";
  run.add(host);
  const Report report = run.report();
  ASSERT_EQ(report.blind.size(), 1u);
  EXPECT_EQ(report.blind[0].source, "n1");
  EXPECT_EQ(report.blind[0].reason, "refused the connection (ssh: port 22: Connection refused)");
  EXPECT_EQ(exit_status_of(report), ExitStatus::cannot_tell);
}

TEST(CheckRun, WhatIsOffIsNotRun) {
  CheckSettings settings;
  settings.limits.turn_off("kernel_log");
  EXPECT_EQ(kernel_text(fit_host(), settings), "");
}

}  // namespace
}  // namespace muster
