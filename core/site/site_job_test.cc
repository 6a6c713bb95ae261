#include <chrono>
#include <functional>

#include "core/site/host_list.h"
#include "core/site/site_test_kit.h"
#include "core/site/slurm_values.h"

namespace muster {
namespace {

using namespace site_test;

constexpr Row kRows[] = {
    {"no jobs", "sacct.txt", "JobID|State|ExitCode\n", "LOG\n"},
    {"no id", "sacct.txt", "State|ExitCode\nFAILED|1:0\n", "LOG\n"},
    {"ids that are none", "sacct.txt", "JobID|State\nx|FAILED\n|FAILED\n", "LOG\n"},
    {"too few cells", "sacct.txt", "JobID|State|ExitCode|Elapsed\n4711|FAILED\n", "LOG\n"},
    {"in the middle of a log", "train.log", "step 1\nstep 2\nJobID|State\n4711|FAILED\nstep 3\n",
     "LOG\n"},
    {"sacct -P", "sacct.txt",
     "JobID|JobName|State|ExitCode|Elapsed|Timelimit|Start|End|NodeList\n"
     "4711|pre train|CANCELLED by "
     "1044|0:15|1-02:03:04|2-00:00:00|2026-05-01T10:00:00|Unknown|n[01-03]\n"
     "4711.0|python|OUT_OF_MEMORY|0:125|05:00||2026-05-01T10:00:00|2026-05-01T10:05:00|n01\n"
     "4712|b|PENDING|0:0|00:00:00|UNLIMITED|Unknown|Unknown|None assigned\n",
     "job 4711 [pre train] CANCELLED by [1044] 0:15 took 93784 of 172800 from 2026-05-01T10:00:00Z "
     "to - on n01 n02 n03\n"
     "job 4711.0 [python] OUT_OF_MEMORY by [] 0:- took 300 of - from 2026-05-01T10:00:00Z to "
     "2026-05-01T10:05:00Z on n01\n"
     "job 4712 [b] PENDING by [] 0:0 took 0 of - from - to - on \n"},
    {"sacct as a table", "sacct.txt",
     "JobID           JobName      State ExitCode    Elapsed        NodeList\n"
     "------------ ---------- ---------- -------- ---------- ---------------\n"
     "4711             my job CANCELLED+     0:15   00:10:00          n[1-2]\n"
     "4711.batch        batch  COMPLETED      0:0   00:10:00              n1\n",
     "job 4711 [my job] CANCELLED by [] 0:15 took 600 of - from - to - on n1 n2\n"
     "job 4711.batch [batch] COMPLETED by [] 0:0 took 600 of - from - to - on n1\n"},
    {"squeue", "squeue.txt",
     "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
     "              4711       gpu    train       me  R 1-02:00:00      2 n[01-02]\n"
     "              4712       gpu    train       me PD       0:00      2 (Priority)\n",
     "job 4711 [train] R by [] -:- took 93600 of - from - to - on n01 n02\n"
     "job 4712 [train] PD by [] -:- took 0 of - from - to - on \n"},
    {"scontrol show job", "job.txt",
     "JobId=4711 JobName=train\n   UserId=me(1) GroupId=me(1)\n   JobState=NODE_FAIL "
     "Reason=NodeDown\n"
     "   RunTime=00:10:00 TimeLimit=2-00:00:00\n   StartTime=2026-05-01T10:00:00 EndTime=Unknown\n"
     "   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList=n[01-02]\n   ExitCode=1:0\n",
     "job 4711 [train] NODE_FAIL by [] 1:0 took 600 of 172800 from 2026-05-01T10:00:00Z to - on "
     "n01 "
     "n02\n"},

    {"a node without a name", "node.txt", "State=IDLE\nwent down at night\n", "LOG\n"},
    {"scontrol show node", "node.txt",
     "NodeName=n07 Arch=x86_64 CoresPerSocket=56 \n   CPUAlloc=0 CPUTot=224\n"
     "   State=IDLE+DRAIN ThreadsPerCore=2\n   Reason=Kill task failed "
     "[root@2026-05-01T10:00:00]\n\n"
     "NodeName=n08 State=MIXED\n",
     "node n07 [IDLE+DRAIN] [Kill task failed]\nnode n08 [MIXED] []\n"},
    {"sinfo -R", "sinfo.txt",
     "REASON               USER      TIMESTAMP           NODELIST\n"
     "Kill task failed     root      2026-05-01T10:00:00 n[07,09]\n"
     "bad gpu              ops       2026-05-01T11:00:00 n11\n",
     "node n[07,09] [] [Kill task failed]\nnode n11 [] [bad gpu]\n"},
    {"sinfo", "sinfo.txt",
     "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
     "gpu*         up   infinite      1  down* n07\ngpu*         up   infinite      3   idle "
     "n[01-03]\n",
     "node n07 [down*] []\nnode n[01-03] [idle] []\n"},
    {"kubectl get nodes", "nodes.txt",
     "NAME   STATUS     ROLES    AGE   VERSION\nn07    NotReady   <none>   9d    v1.31.0\n",
     "node n07 [NotReady] []\n"},
    {"pods are lines for the rules", "pods.txt",
     "NAME    READY   STATUS      RESTARTS      AGE   IP         NODE\n"
     "run-0   0/1     OOMKilled   2 (5m ago)    9m    10.1.2.3   n07\n",
     "LOG\n"},
};

TEST(SiteJobs, TablesOfTools) {
  expect(kRows);
}
TEST(SiteJobs, DamageIsSafe) {
  expect_safe(kRows);
}

TEST(SiteJobs, Durations) {
  const std::pair<const char*, double> good[] = {
      {"2-00:00:19", 172819}, {"07:58:10", 28690}, {"5:03", 303}, {"5:03.221", 303}, {"0:00", 0},
      {"1-12", 129600},       {"1-12:30", 131400}};
  for (const auto& [text, seconds] : good) {
    const auto value = read_slurm_duration(text);
    EXPECT_TRUE(value && duration_to_seconds(*value) == seconds) << text;
  }
  for (const char* bad : {"", "UNLIMITED", "5", "1:2:3:4", "-1:00", "1--2", "a:b", "9999999999:00",
                          "1-", "INVALID", "::"}) {
    EXPECT_FALSE(read_slurm_duration(bad)) << bad;
  }
}

TEST(SiteJobs, HostLists) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {",,", ""},
      {"n[", "n["},
      {"n[a-b]", "n[a-b]"},
      {"n[3-1]", ""},
      {"n[1-3,x]", "n[1-3,x]"},
      {"n01", "n01"},
      {"n[01-03,7],login", "n01 n02 n03 n7 login"},
      {"a[1-2]-ib,b", "a1-ib a2-ib b"},
      {"n[098-101]", "n098 n099 n100 n101"},
  };
  for (const auto& [text, hosts] : rows) {
    EXPECT_EQ(joined(expand_host_list(text)), hosts) << text;
  }
  EXPECT_EQ(expand_host_list("n[0-999999999]").size(), limits::kSiteHosts);
  EXPECT_EQ(expand_host_list("n[1-9],n[0-999999999],x").size(), limits::kSiteHosts);
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Each took minutes where names were made before they were refused.
TEST(SiteJobs, HostListsThatCannotBeCostNoTime) {
  const std::string name(240, 'g'), long_name(400, 'g');
  std::string doubtful = "r7";
  for (int i = 0; i < 20000; ++i) doubtful += ",g[0-777777,y]";
  EXPECT_LT(seconds_of([&] {
              EXPECT_EQ(expand_host_list(long_name + "[0-888888888]").size(), 0u);
              EXPECT_EQ(expand_host_list("w[0-888888888]" + long_name).size(), 0u);
              EXPECT_EQ(expand_host_list(std::string(252, 'g') + "[0-888888888]").size(), 10u);
              EXPECT_EQ(expand_host_list(name + "[7-888888888]").size(), limits::kSiteHosts);
              EXPECT_EQ(expand_host_list(doubtful).size(), limits::kSiteHosts);
            }),
            20);
}

TEST(SiteJobs, HostsOfOneDocumentAreBounded) {
  std::string jobs = "JobID|State|NodeList\n", trials = "trial|nodes|result\n";
  for (int i = 0; i < 40; ++i) {
    jobs += fmt::format("{}|FAILED|g[0-20000]\n", 3100 + i);
    trials += fmt::format("t{}|g[0-20000]|hang\n", i);
  }
  const std::size_t lists = limits::kSiteHostsOfDocument / limits::kSiteHosts;
  std::size_t told = 0, rows = 0;
  const auto read = read_site_document("sacct.txt", jobs);
  ASSERT_TRUE(read);
  for (const SiteFact& fact : *read) {
    const auto* job = std::get_if<JobRecord>(&fact.value);
    rows += job != nullptr ? 1 : 0;
    told += job != nullptr && !job->hosts.empty() ? 1 : 0;
  }
  EXPECT_EQ(rows, 40u);
  EXPECT_EQ(told, lists) << "a job beyond them has no hosts told";
  const auto runs = read_site_document("trials.txt", trials);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->size(), lists);
}

}  // namespace
}  // namespace muster
