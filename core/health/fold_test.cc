#include "core/health/fold.h"

#include <gtest/gtest.h>

#include "core/health/check_output.h"
#include "core/health/host_test_kit.h"
#include "core/health/kernel_classes.h"
#include "core/health/limits.h"
#include "core/model/exit_status.h"
#include "core/model/json_reader.h"

namespace muster::health {
namespace {

CheckedHost checked(const HostProbe& probe, const Limits& limits = {}) {
  return {.host = probe.host,
          .reach = probe.reach,
          .complaint = probe.complaint,
          .results = check_host(probe, limits),
          .facts = host_facts(probe),
          .duration_ms = probe.duration_ms};
}

// Hosts n1 to nN, all fit.
std::vector<HostProbe> fleet(int count) {
  std::vector<HostProbe> out;
  for (int i = 1; i <= count; ++i) out.push_back(fit_host("n" + std::to_string(i)));
  return out;
}

std::vector<CheckedHost> checked(const std::vector<HostProbe>& probes) {
  std::vector<CheckedHost> out;
  for (const HostProbe& probe : probes) out.push_back(checked(probe));
  return out;
}

HostProbe lost_host(std::string name, Reach reach = Reach::refused) {
  HostProbe host;
  host.host = std::move(name);
  host.reach = reach;
  host.complaint = "ssh: connect to host port 22: Connection refused";
  return host;
}

TEST(FoldChecks, AHostThatWasNotReachedIsNeverFit) {
  for (const Reach reach :
       {Reach::unresolved, Reach::refused, Reach::unreachable, Reach::login_refused,
        Reach::host_key, Reach::no_allocation, Reach::broken, Reach::no_probe}) {
    const std::vector<CheckedHost> hosts = checked({lost_host("n1", reach), fit_host("n2")});
    EXPECT_EQ(verdict_of(hosts[0]), CheckOutcome::unknown) << reach_name(reach);
    const Report report = fold_checks(hosts, nullptr);
    EXPECT_TRUE(report.findings.empty());
    ASSERT_FALSE(report.blind.empty());
    EXPECT_EQ(exit_status_of(report), ExitStatus::cannot_tell) << reach_name(reach);
  }
  // Nothing came at all: not even results.
  CheckedHost empty;
  empty.reach = Reach::reached;
  EXPECT_EQ(verdict_of(empty), CheckOutcome::unknown);
}

TEST(FoldChecks, AFaultOutweighsWhatWasNotSeen) {
  HostProbe host = fit_host();
  ends(host, "df", ProbeEnd::timeout);
  EXPECT_EQ(verdict_of(checked(host)), CheckOutcome::unknown);
  says(host, "nvidia_smi_query", gpu_lines(7));
  EXPECT_EQ(verdict_of(checked(host)), CheckOutcome::fail);
  const Report report = fold_checks({checked(host)}, nullptr);
  EXPECT_EQ(exit_status_of(report), ExitStatus::critical);
  // Two checks for one reason are one line.
  ASSERT_EQ(report.blind.size(), 1u);
  EXPECT_EQ(report.blind[0].source, "n1 2 checks");
  EXPECT_EQ(report.blind[0].reason, "df: no end in time");
  EXPECT_TRUE(report.blind[0].hides_critical);
  EXPECT_EQ(report.notes.at(0), fmt::format("n1: {} checks, {} passed, 1 failed, 2 unknown",
                                            check_table().size(), check_table().size() - 3));
}

TEST(FoldChecks, WhatCouldOnlyWarnHidesNothing) {
  HostProbe host = fit_host();
  ends(host, "pci_acs", ProbeEnd::denied);
  EXPECT_EQ(verdict_of(checked(host)), CheckOutcome::pass);
  EXPECT_EQ(exit_status_of(fold_checks({checked(host)}, nullptr)), ExitStatus::ok);
}

TEST(FoldChecks, OneBrokenHostLeavesTheOthersTheirResults) {
  std::vector<HostProbe> probes = fleet(4);
  says(probes[2], "zpool_status", "config:\n\n\todd\x01 \xff\n");
  const auto hosts = checked(probes);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    EXPECT_EQ(verdict_of(hosts[i]), i == 2 ? CheckOutcome::unknown : CheckOutcome::pass);
  }
}

TEST(FoldChecks, AFaultOfManyHostsIsOneFinding) {
  std::vector<HostProbe> probes = fleet(200);
  for (int i = 0; i < 120; ++i)
    says(probes[static_cast<std::size_t>(i)], "swaps",
         "Filename Type Size Used Priority\n/dev/sda2 p 99 0 -2\n");
  const Report report = fold_checks(checked(probes), nullptr);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].summary,
            "120 of 200 hosts (n1 n2 n3 n4 n5 n6 n7 n8 and 112 more): swap is on, 0 MiB of it in "
            "use");
  EXPECT_EQ(report.findings[0].cause, Cause::host_setting);
  EXPECT_EQ(exit_status_of(report), ExitStatus::warning);
}

TEST(FoldChecks, AHalfRolledFirmwareIsOneFinding) {
  std::vector<HostProbe> probes = fleet(20);
  const auto roll = [&probes](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      for (int card = 0; card < 8; ++card) {
        has_file(probes[i], "ib_devices", fmt::format("/sys/class/infiniband/mlx5_{}/fw_ver", card),
                 "28.40.1000\n");
      }
    }
  };
  roll(3);
  Report report = fold_checks(checked(probes), nullptr);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].cause, Cause::host_differs);
  EXPECT_EQ(report.findings[0].culprits.size(), 3u);
  EXPECT_TRUE(report.findings[0].summary.starts_with("adapter_firmware differs on 3 of 20 hosts"))
      << report.findings[0].summary;
  // Half and half: nobody says which is right, so nobody is named.
  roll(10);
  report = fold_checks(checked(probes), nullptr);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].severity, Severity::info);
  EXPECT_TRUE(report.findings[0].culprits.empty());
  // Unless a reference does.
  const Golden golden{.hosts = 4,
                      .facts = {{"adapter_firmware", {"8 x 28.40.1000 (MT_0000000838)"}}}};
  report = fold_checks(checked(probes), &golden);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].culprits.size(), 10u);
  EXPECT_EQ(report.findings[0].confidence, Confidence::high);
}

TEST(FoldChecks, EveryFindingHasASeverityOfItsCause) {
  for (const Check& check : check_table()) {
    for (const CheckOutcome outcome : {CheckOutcome::fail, CheckOutcome::warn}) {
      if (outcome == CheckOutcome::fail && check.only_warns) continue;
      CheckResult result = found(outcome, "text");
      result.check = check.id;
      CheckedHost host;
      host.host = "n1";
      host.reach = Reach::reached;
      host.results = {std::move(result)};
      const Report report = fold_checks({host}, nullptr);
      ASSERT_EQ(report.findings.size(), 1u);
      const Finding& finding = report.findings[0];
      EXPECT_TRUE(cause_row(finding.cause).allows(finding.severity)) << check.id;
      // A check that fails a host says so in the exit status.
      if (outcome == CheckOutcome::fail) {
        EXPECT_EQ(exit_status_of(report), ExitStatus::critical) << check.id;
      }
    }
  }
}

TEST(Golden, ComesBackAndRefusesWhatIsNone) {
  const auto hosts = checked(fleet(3));
  const std::vector<HostFacts> facts = {hosts[0].facts, hosts[1].facts, hosts[2].facts};
  const Golden golden = learn_golden(facts);
  EXPECT_EQ(golden.hosts, 3u);
  EXPECT_TRUE(golden.facts.at("gpu").contains("8 x NVIDIA H100 80GB HBM3"));
  const std::string text = encode_golden(golden);
  const auto back = decode_golden(text);
  ASSERT_TRUE(back) << back.error().context;
  EXPECT_EQ(*back, golden);
  for (std::size_t at = 0; at + 1 < text.size(); ++at)
    EXPECT_FALSE(decode_golden(text.substr(0, at)));
  EXPECT_FALSE(decode_golden(R"({"schema":"muster.golden/2","hosts":1,"facts":{}})"));
  EXPECT_FALSE(decode_golden(R"({"schema":"muster.golden/1","hosts":1,"facts":{"a":[1]}})"));
  EXPECT_FALSE(decode_golden(R"({"schema":"muster.golden/1","hosts":1,"facts":{"a":"b"}})"));
}

TEST(Golden, AnOddOneOutIsNoReference) {
  std::vector<HostFacts> facts(9, HostFacts{{"driver", "570"}});
  facts.push_back({{"driver", "550"}});
  EXPECT_EQ(learn_golden(facts).facts.at("driver"), (std::set<std::string>{"570"}));
  EXPECT_EQ(learn_golden({}).hosts, 0u);
}

TEST(JudgeKernel, KnowsWhatIsGrave) {
  const HostProbe host = fit_host();
  const auto sight = [](Severity severity, Confidence confidence) {
    KernelSight out;
    out.event.kind = KernelEventKind::xid;
    out.event.code = 140;
    out.event.pci = "0000:3b:00.0";
    out.event.text = "NVRM: Xid";
    out.cause = Cause::ecc_uncorrectable;
    out.severity = severity;
    out.confidence = confidence;
    return out;
  };
  struct Row {
    KernelSight sight;
    CheckOutcome outcome;
    Cause cause;
  };
  const Row rows[] = {
      {sight(Severity::critical, Confidence::high), CheckOutcome::fail, Cause::ecc_uncorrectable},
      {sight(Severity::critical, Confidence::low), CheckOutcome::warn, Cause::undetermined},
      {sight(Severity::warning, Confidence::medium), CheckOutcome::warn, Cause::ecc_uncorrectable},
  };
  for (const Row& row : rows) {
    const KernelSight twice[] = {row.sight, row.sight};
    const Judged out = judge_kernel(host, twice, {});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].outcome, row.outcome);
    EXPECT_EQ(out[0].cause, row.cause);
    EXPECT_EQ(out[0].culprit, (Culprit{CulpritKind::gpu, "n1/0000:3b:00.0"}));
    EXPECT_EQ(out[0].evidence.size(), 2u);
  }
  const KernelSight note[] = {sight(Severity::info, Confidence::high)};
  EXPECT_EQ(judge_kernel(host, note, {})[0].outcome, CheckOutcome::pass);
  // A row that was remapped: its present state has a check of its own, here it is a note.
  KernelSight remapped = sight(Severity::warning, Confidence::high);
  remapped.cause = Cause::ecc_contained;
  const KernelSight contained[] = {remapped};
  const Judged out = judge_kernel(host, contained, {});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].outcome, CheckOutcome::pass);
  EXPECT_TRUE(out[0].text.starts_with("Xid 140")) << out[0].text;
}

TEST(JudgeKernel, LevelsAndTheAllowListOfTheUser) {
  const std::string log =
      "<1>[ 1.0] very grave\n<4>[ 2.0] a warning\n<2>[ 3.0] crit: fan tray\n<26>[ 4.0] daemon "
      "crit\nno level\n<3>[ 5.0] error\n";
  EXPECT_EQ(grave_lines(log, {}).size(), 3u);
  EXPECT_EQ(grave_lines(log, {"fan tray", "daemon", ""}).size(), 1u);
  const HostProbe host = fit_host();
  const std::string_view lines[] = {"<1>[ 1.0] very grave"};
  EXPECT_EQ(judge_kernel(host, {}, lines)[0].outcome, CheckOutcome::warn);
}

TEST(CheckOutput, EscapesWhatHostsSay) {
  HostProbe host = fit_host("n\"1\n");
  says(host, "services", "Id=\x1b[31mevil|#.service\nActiveState=failed\n");
  const CheckedHost bad = checked(host);
  for (const std::string& text :
       {check_table_text({bad}), check_prometheus({bad}), check_ticket(bad, serials_of(host))}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("n\"1\n"), std::string::npos) << text;
  }
  EXPECT_TRUE(parse_json(check_json({bad})));
}

TEST(CheckOutput, ShowsEachHost) {
  std::vector<HostProbe> probes = fleet(2);
  says(probes[1], "nvidia_smi_query", gpu_lines(7));
  probes.push_back(lost_host("n3"));
  const auto hosts = checked(probes);
  EXPECT_EQ(check_table_text(hosts),
            "n1    PASS\n"
            "n2    FAIL     gpu_count: 7 of 8 GPUs answer (8 on the PCI bus)\n"
            "n3    UNKNOWN  refused the connection (ssh: connect to host port 22: Connection "
            "refused)\n");
  const std::string metrics = check_prometheus(hosts);
  for (const char* line : {"muster_check{host=\"n1\",check=\"gpu_count\"} 0\n",
                           "muster_check{host=\"n2\",check=\"gpu_count\"} 2\n",
                           "muster_check{host=\"n3\",check=\"gpu_count\"} 3\n",
                           "muster_host_reached{host=\"n3\"} 0\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line;
  }
  const std::string ticket = check_ticket(hosts[1], serials_of(probes[1]));
  EXPECT_NE(ticket.find("# n2: FAIL"), std::string::npos) << ticket;
  EXPECT_NE(ticket.find("| GPU 0 (00000000:10:00.0) | 165000 |"), std::string::npos) << ticket;
  EXPECT_EQ(drain_reason(hosts[0]), "");
  EXPECT_EQ(drain_reason(hosts[1]), "muster: gpu_count: 7 of 8 GPUs answer (8 on the PCI bus)");
  EXPECT_EQ(drain_reason(hosts[2]), "");
}

}  // namespace
}  // namespace muster::health
