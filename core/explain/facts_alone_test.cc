#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

constexpr Severity kCritical = Severity::critical, kWarning = Severity::warning;
constexpr Confidence kLow = Confidence::low, kMedium = Confidence::medium;

JobRecord job(std::string id, std::string state, std::vector<std::string> hosts = {}) {
  JobRecord out;
  out.id = std::move(id);
  out.state = std::move(state);
  out.hosts = std::move(hosts);
  return out;
}

JobRecord ended(std::string id, int code, int signal) {
  JobRecord out = job(std::move(id), "FAILED");
  out.exit_code = code;
  out.exit_signal = signal;
  return out;
}

DiskSpace mount(std::string at, std::string device, double avail, bool inodes = false) {
  DiskSpace out;
  out.mount = std::move(at);
  out.device = std::move(device);
  out.inodes = inodes;
  out.size = 1e12;
  out.avail = avail;
  return out;
}

void expect_rows(const std::vector<ExplainRow>& rows) {
  for (const ExplainRow& row : rows) expect_row(row);
}

TEST(FactsAlone, Jobs) {
  expect_rows({
      {"completed", [](Pile& p) { p.fact(job("81", "COMPLETED")); }, "", ""},
      {"pending", [](Pile& p) { p.fact(job("81", "PENDING")); }, "", ""},
      {"out of memory on one host",
       [](Pile& p) {
         p.fact(job("81", "OUT_OF_MEMORY", {"c4"}));
         p.fact(job("81.0", "OUT_OF_MEMORY", {"c4"}));
       },
       "host_oom_killed", "host:c4", kCritical, kMedium, kMedium},
      {"out of memory, the word cut", [](Pile& p) { p.fact(job("81", "OUT_OF_ME", {"c4", "c5"})); },
       "host_oom_killed", ""},
      {"only its step says so", [](Pile& p) { p.fact(job("81.0", "OUT_OF_MEMORY")); },
       "host_oom_killed", ""},
      {"failed", [](Pile& p) { p.fact(ended("81", 3, 0)); }, "undetermined", "", kCritical, kLow,
       kLow},
      {"cancelled", [](Pile& p) { p.fact(job("81", "CANCELLED")); }, "external_stop", "", kWarning},
      {"a step of a good job was cancelled",
       [](Pile& p) {
         p.fact(job("81", "COMPLETED"));
         p.fact(job("81.2", "CANCELLED"));
       },
       "", ""},
      {"beside a cause it is no answer",
       [](Pile& p) {
         p.root(Cause::gpu_oom).rank(3).at(5);
         p.fact(ended("81", 1, 0));
       },
       "gpu_oom", "rank:3"},
  });
}

TEST(FactsAlone, TheExitOfAJobIsTold) {
  Pile pile;
  pile.fact(ended("81", 3, 0));
  EXPECT_EQ(explain(pile.input).findings.at(0).summary,
            "The job 81 ended FAILED, exit code 3; its log tells why");
}

TEST(FactsAlone, MountsAndNodes) {
  expect_rows({
      {"room", [](Pile& p) { p.fact(mount("/data", "/dev/sdb", 5e9)); }, "", ""},
      {"an image is always full",
       [](Pile& p) {
         p.fact(mount("/snap/x/7", "/dev/loop3", 0));
         p.fact(mount("/opt/tools", "/dev/loop4", 0));
       },
       "", ""},
      {"no room", [](Pile& p) { p.fact(mount("/data", "/dev/sdb", 0)); }, "disk_full",
       "file:/data"},
      {"no inodes", [](Pile& p) { p.fact(mount("/data", "/dev/sdb", 0, true)); },
       "inodes_exhausted", "file:/data"},
      {"idle", [](Pile& p) { p.fact(NodeState{"c[1-3]", "idle", ""}); }, "", ""},
      {"drained", [](Pile& p) { p.fact(NodeState{"c1", "drained", "planned"}); }, "", ""},
      {"down",
       [](Pile& p) {
         p.fact(NodeState{"c1", "idle", ""});
         p.fact(NodeState{"c2", "down*", ""});
       },
       "undetermined", "host:c2", kWarning, kLow, kLow},
      {"not responding", [](Pile& p) { p.fact(NodeState{"c3", "", "Not responding"}); },
       "undetermined", "host:c3", kWarning, kLow, kLow},
  });
}

TEST(FactsAlone, Gpus) {
  const auto state = [](const std::string& name, const std::string& value) {
    return [=](Pile& p) {
      p.fact(GpuState{"00000000:5D:00.0", "Volatile DRAM Correctable", "9"}, "c1");
      p.fact(GpuState{"00000000:5D:00.0", name, value}, "c1");
    };
  };
  const std::string gpu = "gpu:c1/0000:5d:00.0";
  expect_rows({
      {"no errors", state("Volatile DRAM Uncorrectable", "0"), "", ""},
      {"errors now", state("Volatile DRAM Uncorrectable", "2"), "ecc_uncorrectable", gpu},
      {"errors of the table", state("Volatile Uncorr. ECC", "2"), "ecc_uncorrectable", gpu},
      {"errors of old", state("Aggregate DRAM Uncorrectable", "2"), "undetermined", gpu,
       Severity::info, kLow, kLow},
      {"no remap waits", state("Pending", "No"), "", ""},
      {"a remap waits", state("Pending", "Yes"), "ecc_contained", gpu, kWarning},
      {"cool", state("HW Thermal Slowdown", "Not Active"), "", ""},
      {"hot", state("HW Thermal Slowdown", "Active"), "undetermined", gpu, kWarning, kMedium,
       kMedium},
      {"power cap", state("SW Power Cap", "Active"), "", ""},
      {"no answer", state("reading", "ERR!"), "undetermined", gpu, kCritical, kLow, kLow},
  });
}

TEST(FactsAlone, LinesOfNoWeight) {
  const auto nan = [](Pile& p) {
    p.line("loss_nan_plain", Cause::undetermined, EventRole::context).word("step", "410").at(9);
  };
  const auto end = [](Pile& p, int rank, std::string code, double seconds) {
    p.line("exception", Cause::rank_exception, EventRole::teardown)
        .host("c2")
        .rank(rank)
        .word("code", std::move(code))
        .at(seconds);
  };
  expect_rows({
      {"nan", nan, "undetermined", "", kWarning, kMedium, kMedium},
      {"nan beside a cause",
       [=](Pile& p) {
         nan(p);
         p.root(Cause::gpu_oom).rank(3).at(20);
       },
       "gpu_oom", "rank:3"},
      {"the first that ended",
       [=](Pile& p) {
         end(p, 6, "1", 10);
         end(p, 2, "1", 12);
       },
       "undetermined", "rank:6", kCritical, kLow, kLow},
      {"ended well", [=](Pile& p) { end(p, 6, "0", 10); }, "evidence_missing", "", Severity::info,
       kLow, kLow},
  });
}

}  // namespace
}  // namespace muster
