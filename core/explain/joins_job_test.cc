#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

JobRecord job(std::string id, std::string state, std::vector<std::string> hosts = {}) {
  JobRecord out;
  out.id = std::move(id);
  out.state = std::move(state);
  out.hosts = std::move(hosts);
  return out;
}

void oom(Pile& p, std::int64_t pid, std::string process, std::string host = "", double at = 30) {
  p.source = "dmesg.txt";
  p.line("oom_kill", host_oom_killed, EventRole::root, "Out of memory: Killed process")
      .pid(pid)
      .word("process", std::move(process))
      .host(std::move(host))
      .at(at);
  p.source = "job.log";
}
void loader_died(Pile& p, std::int64_t pid, int rank = 5, std::string host = "") {
  p.line("exception", loader_worker_crashed, EventRole::root,
         "RuntimeError: DataLoader worker (pid " + std::to_string(pid) +
             ") is killed by signal: Killed.")
      .rank(rank)
      .host(std::move(host));
}

TEST(JobJoins, ProcessesThatTheKernelKilled) {
  run({
      {"somebody else's", [](Pile& p) { oom(p, 9, "snapd"); }, "host_oom_killed", "process:9",
       kCritical, kLow, kLow},
      {"somebody else's, and an exception",
       [](Pile& p) {
         oom(p, 9, "snapd");
         p.root(rank_exception, "ValueError").rank(2).at(9000);
       },
       "rank_exception", "rank:2"},
      {"same pid on another host",
       [](Pile& p) {
         oom(p, 77, "snapd", "n1");
         loader_died(p, 77, 5, "n2");
         p.timeouts(0, 4, 640);
       },
       "loader_worker_crashed", "rank:5"},
      {"same pid, and nobody knows on which of two hosts",
       [](Pile& p) {
         oom(p, 77, "snapd", "n1");
         p.line("x", undetermined, EventRole::context).host("n2");
         loader_died(p, 77);
       },
       "loader_worker_crashed", "rank:5"},
      {"a loader, and its rank says so",
       [](Pile& p) {
         oom(p, 77, "pt_data_worker");
         loader_died(p, 77);
         p.timeouts(0, 4, 640);
       },
       "host_oom_killed", "process:77", kCritical, kHigh},
      {"of two, the one that was mourned",
       [](Pile& p) {
         oom(p, 9, "snapd", "", 20);
         oom(p, 77, "pt_data_worker");
         loader_died(p, 77);
       },
       "host_oom_killed", "process:77", kCritical, kHigh},
      {"a training process", [](Pile& p) { oom(p, 77, "python"); }, "host_oom_killed", "process:77",
       kCritical, kHigh},
  });
}

void server(Pile& p, bool lost, double at, std::string device = "10.1.2.3") {
  p.line(lost ? "server_lost" : "server_back", lost ? storage_server_lost : storage_pause_recovered,
         lost ? EventRole::root : EventRole::confirmation)
      .word("device", std::move(device))
      .at(at)
      .host("n1");
}

TEST(JobJoins, FileServers) {
  run({
      {"a pause",
       [](Pile& p) {
         server(p, true, 10);
         server(p, false, 16);
       },
       "storage_pause_recovered", "", kInfo},
      {"another server came back",
       [](Pile& p) {
         server(p, true, 10);
         server(p, false, 16, "10.9.9.9");
       },
       "storage_server_lost", "host:10.1.2.3", kCritical},
      {"back, then lost again",
       [](Pile& p) {
         server(p, true, 10);
         server(p, false, 16);
         server(p, true, 20);
       },
       "storage_server_lost", "host:10.1.2.3", kCritical},
      {"lost, ranks gave up",
       [](Pile& p) {
         server(p, true, 10);
         p.timeouts(0, 3, 1810);
       },
       "storage_server_lost", "host:10.1.2.3", kCritical, kHigh},
      {"ranks gave up before it came back",
       [](Pile& p) {
         server(p, true, 10);
         p.timeouts(0, 3, 1810);
         server(p, false, 2500);
       },
       "storage_server_lost", "host:10.1.2.3", kCritical, kMedium, kMedium},
      {"a pause and a real reason",
       [](Pile& p) {
         server(p, true, 10);
         server(p, false, 16);
         p.root(gpu_oom, "CUDA out of memory").rank(3).at(500);
       },
       "gpu_oom", "rank:3"},
  });
}

void server_of(Pile& p, std::string host, bool lost, double at) {
  p.source = "kern." + host;
  server(p, lost, at, "filer-b");
  p.input.events.back().host = std::move(host);
}

// 64 ranks of 8 hosts. The clock of the host that lost its server, or of all others, is hours off:
// what they began together shows it, and no rank is behind.
TEST(JobJoins, AServerLostWhereClocksAreHoursApart) {
  for (const double ahead : {-9000.0, 0.0, 9000.0}) {
    for (const bool others : {false, true}) {
      run({{fmt::format("{} s, {}", ahead, others ? "all others" : "its own"),
            [=](Pile& p) {
              for (int rank = 1; rank < 64; ++rank) {
                const double off = (rank < 8) != others ? ahead : others ? ahead * (rank / 8) : 0;
                p.timeout(rank, 1810 + off).host(fmt::format("n{}", 1 + rank / 8));
              }
              p.context("save_begin").rank(0).host("n1").at(5 + (others ? 0 : ahead));
              server(p, true, 10 + (others ? 0 : ahead));
            },
            "storage_server_lost", "host:10.1.2.3", kCritical, kMedium, kHigh}});
    }
  }
}

TEST(JobJoins, OneServerOfSeveralHosts) {
  run({
      {"lost by two",
       [](Pile& p) {
         server_of(p, "a3", true, 10);
         server_of(p, "a4", true, 11);
       },
       "storage_server_lost", "host:filer-b", kCritical, kHigh},
      {"back on one of them",
       [](Pile& p) {
         server_of(p, "a3", true, 10);
         server_of(p, "a4", true, 11);
         server_of(p, "a3", false, 900);
       },
       "storage_server_lost", "host:filer-b", kCritical, kHigh},
      {"back on both",
       [](Pile& p) {
         server_of(p, "a3", true, 10);
         server_of(p, "a4", true, 11);
         server_of(p, "a3", false, 900);
         server_of(p, "a4", false, 900);
       },
       "storage_pause_recovered", "", kInfo},
  });
}

void terminated(Pile& p, std::string host, double at, std::int64_t pid = 500) {
  p.root(external_stop, "Received 15 death signal").host(std::move(host)).pid(pid).at(at);
}

// A record that began and ended at seconds of the clock of the lines.
JobRecord dated(std::string id, std::string state, double start, std::optional<double> end,
                std::vector<std::string> hosts = {}) {
  const WallTime day(std::chrono::hours(24 * 20'000));
  JobRecord out = job(std::move(id), std::move(state), std::move(hosts));
  out.start = day + seconds_to_duration(start);
  if (end) out.end = day + seconds_to_duration(*end);
  return out;
}

constexpr double kDay = 86'400;
void dies(Pile& p, Cause cause = rank_exception) {
  p.root(cause, "KeyError: 'mask'").rank(6).host("a2").at(2 * kDay);
}
void beats(Pile& p) {
  p.line("rdzv", undetermined, EventRole::cascade, "failed to send a keep-alive heartbeat")
      .at(2 * kDay + 30);
}

TEST(JobJoins, RecordsOfOtherJobs) {
  run({
      {"an end of yesterday",
       [=](Pile& p) {
         dies(p);
         p.fact(dated("771", "TIMEOUT", 0, kDay));
       },
       "rank_exception", "rank:6"},
      {"an end that nobody dates",
       [=](Pile& p) {
         dies(p);
         p.fact(job("771", "TIMEOUT"));
       },
       "rank_exception", "rank:6"},
      {"the end of it",
       [=](Pile& p) {
         p.root(rank_exception, "SignalException: got signal 15").rank(6).at(2 * kDay);
         p.fact(dated("771", "TIMEOUT", kDay, 2 * kDay + 60));
       },
       "external_stop", "", kInfo},
      {"of another job that the logs do not name",
       [=](Pile& p) {
         p.source = "out/run-772.txt";
         terminated(p, "", 2 * kDay);
         p.fact(job("771", "TIMEOUT"));
         p.fact(job("772", "RUNNING"));
       },
       "external_stop", "process:500", kWarning},
  });
}

TEST(JobJoins, NodesAndRestsOfOtherJobs) {
  run({
      {"a node of another job",
       [=](Pile& p) {
         dies(p);
         p.fact(dated("771", "NODE_FAIL", 0, kDay, {"a1", "a2"}));
         p.fact(NodeState{"a1", "DOWN*", "Not responding"});
       },
       "rank_exception", "rank:6"},
      {"it may be a node of another job",
       [=](Pile& p) {
         dies(p);
         p.fact(job("771", "NODE_FAIL", {"a1", "a2"}));
         p.fact(NodeState{"a1", "DOWN*", "Not responding"});
       },
       "rank_exception", "rank:6"},
      {"another job runs",
       [=](Pile& p) {
         dies(p, gpu_oom);
         beats(p);
         p.fact(dated("771", "RUNNING", 3 * kDay, {}));
       },
       "gpu_oom", "rank:6"},
      {"several run",
       [=](Pile& p) {
         dies(p, gpu_oom);
         beats(p);
         p.fact(job("771", "R"));
         p.fact(job("774", "R"));
       },
       "gpu_oom", "rank:6"},
      {"it runs still",
       [=](Pile& p) {
         dies(p, gpu_oom);
         beats(p);
         p.fact(dated("771", "RUNNING", kDay, {}));
       },
       "zombie_job", "rank:6", kCritical, kHigh},
      {"down in a list",
       [](Pile& p) {
         p.fact(job("771", "NODE_FAIL", {"a01", "a02"}));
         p.fact(NodeState{"a[02-04,9]", "DOWN*", "Not responding"});
       },
       "node_failure", "host:a02"},
  });
}

TEST(JobJoins, ProcessesThatDoNotDie) {
  const auto drained = [](Pile& p, std::string reason) {
    p.fact(NodeState{"n7", "IDLE+DRAIN", std::move(reason)});
  };
  run({
      {"drained by hand", [=](Pile& p) { drained(p, "maintenance"); }, "", ""},
      {"nothing more", [=](Pile& p) { drained(p, "Kill task failed"); }, "unkillable_process",
       "host:n7", kWarning},
      {"waits for files",
       [=](Pile& p) {
         drained(p, "Kill task failed");
         p.fact(ProcessRow{4711, "Dl", "rpc_wait_bit_killable", "python"});
       },
       "unkillable_process", "host:n7", kWarning},
      {"a list, of which one is known",
       [](Pile& p) {
         p.fact(NodeState{"n[07-09]", "DRAIN", "Kill task failed"});
         p.fact(ProcessRow{4711, "D", "nfs_wait", "python"}, "n08");
       },
       "unkillable_process", "host:n08", kWarning},
      {"a list, and a host beside it",
       [](Pile& p) {
         p.fact(NodeState{"n[07-09]", "DRAIN", "Kill task failed"});
         p.fact(ProcessRow{4711, "D", "nfs_wait", "python"}, "n10");
       },
       "unkillable_process", "host:n[07-09]", kWarning},
      {"two nodes",
       [=](Pile& p) {
         drained(p, "Kill task failed");
         p.fact(NodeState{"n9", "DRAIN", "Kill task failed"});
       },
       "unkillable_process", "host:n7 host:n9", kWarning},
  });
}

TEST(JobJoins, StopsFromOutside) {
  run({
      {"all hosts at once",
       [](Pile& p) {
         terminated(p, "n1", 10);
         terminated(p, "n2", 10);
       },
       "external_stop", "", kWarning},
      {"a time limit",
       [](Pile& p) {
         p.root(external_stop, "STEP 4.0 CANCELLED DUE TO TIME LIMIT").host("n1").at(10);
         p.root(rank_exception, "SignalException: got signal 15").rank(0).at(11);
         p.fact(job("4", "TIMEOUT"));
       },
       "external_stop", "", kInfo},
      {"a time limit, in the record alone",
       [](Pile& p) {
         terminated(p, "n1", 10);
         p.fact(job("4", "TIMEOUT"));
       },
       "external_stop", "", kInfo},
      {"of a step, not the job",
       [](Pile& p) {
         terminated(p, "n1", 10);
         p.fact(job("4.0", "TIMEOUT"));
       },
       "external_stop", "", kWarning},
      {"the only host there is", [](Pile& p) { terminated(p, "n1", 10); }, "external_stop", "",
       kWarning},
      {"somebody cancelled",
       [](Pile& p) {
         terminated(p, "n1", 10);
         JobRecord r = job("4", "CANCELLED by 12");
         r.by = "12";
         p.fact(r);
       },
       "external_stop", "", kWarning},
      {"one host first",
       [](Pile& p) {
         terminated(p, "n2", 10);
         p.source = "a.log";
         p.timeout(0, 611).host("n1");
       },
       "external_stop", "host:n2", kWarning, kHigh},
      {"no host",
       [](Pile& p) {
         terminated(p, "", 10);
         p.timeout(0, 611);
       },
       "external_stop", "process:500", kWarning},
      {"cancelled because it hung",
       [](Pile& p) {
         p.timeouts(0, 7, 100, 3);
         terminated(p, "n2", 2000);
       },
       "rank_behind", "rank:3", kCritical, kLow, kLow},
      {"ended behind an exception",
       [](Pile& p) {
         p.root(rank_exception, "KeyError").rank(4).host("n2").at(9);
         terminated(p, "n2", 10);
       },
       "rank_exception", "rank:4", kCritical},
  });
}

TEST(JobJoins, NodesThatFail) {
  run({
      {"the scheduler names none", [](Pile& p) { p.fact(job("4", "NODE_FAIL", {"n1", "n2"})); },
       "node_failure", ""},
      {"a node of another job is down",
       [](Pile& p) {
         p.fact(job("4", "NODE_FAIL", {"n1", "n2"}));
         p.fact(NodeState{"n9", "DOWN*", "Not responding"});
       },
       "node_failure", ""},
      {"one of it is down",
       [](Pile& p) {
         p.fact(job("4", "NODE_FAIL", {"n1", "n2"}));
         p.fact(NodeState{"n2", "DOWN*", "Not responding"});
       },
       "node_failure", "host:n2"},
      {"named by its line",
       [](Pile& p) {
         p.fact(job("4", "NODE_FAIL", {"n1", "n2"}));
         p.root(node_failure, "Node failure on n2").host("n2").on(CulpritKind::host, "n2").at(5);
         p.line("slurm_step_cancelled", external_stop, EventRole::teardown,
                "STEP ON n1 CANCELLED DUE TO NODE FAILURE")
             .host("n1")
             .at(6);
       },
       "node_failure", "host:n2", kCritical, kHigh},
  });
}

TEST(JobJoins, NodesThatFailedJobsShare) {
  const auto jobs = [](Pile& p) {
    p.fact(job("1", "FAILED", {"n021", "n044", "n113"}));
    p.fact(job("2", "FAILED", {"n008", "n044", "n113"}));
    p.fact(job("3", "COMPLETED", {"n021", "n044"}));
    p.fact(job("4", "FAILED", {"n011", "n113"}));
  };
  run({
      {"one failed job",
       [](Pile& p) {
         p.fact(job("1", "FAILED", {"n1"}));
         p.fact(job("2", "COMPLETED", {"n2"}));
       },
       "undetermined", "", kCritical, kLow, kLow},
      {"two that share two",
       [](Pile& p) {
         p.fact(job("1", "FAILED", {"n1", "n2"}));
         p.fact(job("2", "FAILED", {"n1", "n2"}));
       },
       "undetermined", "", kCritical, kLow, kLow},
      {"it was in a good one too",
       [=](Pile& p) {
         jobs(p);
         p.fact(job("5", "COMPLETED", {"n113"}));
       },
       "undetermined", "", kCritical, kLow, kLow},
      {"a suspicion", [=](Pile& p) { jobs(p); }, "undetermined", "host:n113", kWarning, kLow, kLow},
      {"and its memory",
       [=](Pile& p) {
         jobs(p);
         p.root(ecc_uncorrectable, "CUDA error: uncorrectable ECC error").rank(6);
         p.fact(RankPlace{6, 6, "n113", ""});
       },
       "ecc_uncorrectable", "host:n113", kCritical, kHigh},
      {"and a file server that it lost",
       [=](Pile& p) {
         jobs(p);
         p.root(storage_server_lost, "server not responding")
             .host("n113")
             .word("device", "filer-b");
       },
       "storage_server_lost", "host:filer-b", kCritical},
      {"memory of another node",
       [=](Pile& p) {
         jobs(p);
         p.root(ecc_uncorrectable, "uncorrectable ECC error").rank(6);
         p.fact(RankPlace{6, 6, "n044", ""});
       },
       "ecc_uncorrectable", "host:n044"},
  });
}

void attempt(Pile& p, double at, int step, std::string death) {
  p.context("restarted", "loaded checkpoint").word("step", std::to_string(step)).at(at);
  p.root(rank_exception, std::move(death)).rank(37).at(at + 33);
}

TEST(JobJoins, AttemptsAreOneBehindTheOther) {
  run({
      {"each rank in a log of its own",
       [](Pile& p) {
         for (int r = 0; r < 8; ++r) {
           p.source = "log." + std::to_string(r);
           p.context("restarted", "loaded checkpoint").word("step", "100").rank(r).at(10 + 0.1 * r);
           p.root(rank_exception, "NaN").rank(r).at(43 + 0.1 * r);
         }
       },
       "rank_exception", ""},
      {"each rank in a log of its own, no stamps",
       [](Pile& p) {
         for (int r = 0; r < 8; ++r) {
           p.source = "log." + std::to_string(r);
           p.context("restarted", "loaded checkpoint").word("step", "100");
           p.root(rank_exception, "NaN");
         }
       },
       "rank_exception", ""},
      {"logs of ranks one behind the other",
       [](Pile& p) {
         for (int r = 0; r < 8; ++r) {
           p.context("restarted", "loaded checkpoint").word("step", "100").rank(r);
           p.root(rank_exception, "NaN").rank(r);
         }
       },
       "rank_exception", ""},
      {"loads and deaths that were folded",
       [](Pile& p) {
         attempt(p, 0, 100, "NaN at 1");
         p.input.events[0].repeats = p.input.events[1].repeats = 1'000'000'000'000;
       },
       "restart_loop", "file:iteration 100", kCritical, kHigh},
  });
}

TEST(JobJoins, RestartsAndZombies) {
  const auto beat = [](Pile& p, double at) {
    p.line("rdzv", undetermined, EventRole::cascade, "failed to send a keep-alive heartbeat")
        .at(at);
  };
  run({
      {"each comes further",
       [](Pile& p) {
         for (int i = 0; i < 4; ++i) attempt(p, i * 100, 100 + 50 * i, "NaN at 1");
       },
       "rank_exception", "rank:37"},
      {"twice only",
       [](Pile& p) {
         for (int i = 0; i < 2; ++i) attempt(p, i * 100, 100, "NaN at 1");
       },
       "rank_exception", "rank:37"},
      {"different deaths",
       [](Pile& p) {
         for (int i = 0; i < 4; ++i) attempt(p, i * 100, 100, std::string("E") + char('a' + i));
       },
       "rank_exception", "rank:37"},
      {"the same death",
       [](Pile& p) {
         for (int i = 0; i < 4; ++i) attempt(p, i * 100, 100, "NaN at " + std::to_string(i));
       },
       "restart_loop", "file:iteration 100", kCritical, kHigh},
      {"dead, and still running",
       [=](Pile& p) {
         p.root(gpu_oom, "CUDA out of memory").on(CulpritKind::gpu, "3").at(10);
         beat(p, 20);
         beat(p, 9000);
         p.fact(job("4", "R"));
       },
       "zombie_job", "gpu:3"},
      {"dead, and it went on",
       [=](Pile& p) {
         p.root(gpu_oom, "CUDA out of memory").on(CulpritKind::gpu, "3").at(10);
         beat(p, 20);
         p.context("last_step").at(9000);
         p.fact(job("4", "R"));
       },
       "undetermined", "gpu:3", kInfo, kLow, kLow},
      {"dead, and ended",
       [=](Pile& p) {
         p.root(gpu_oom, "CUDA out of memory").on(CulpritKind::gpu, "3").at(10);
         beat(p, 20);
         p.fact(job("4", "FAILED"));
       },
       "gpu_oom", "gpu:3"},
  });
}

TEST(JobJoins, PortsPlansAndTrials) {
  const auto in_use = [](Pile& p) {
    p.root(port_in_use, "failed to bind to [::]:29517").word("port", "29517");
  };
  const auto trial = [](Pile& p, std::vector<std::string> groups, bool failed) {
    TrialRun r;
    r.groups = std::move(groups);
    r.failed = failed;
    p.fact(r);
  };
  const auto last = [](Pile& p, std::string step) {
    p.context("last_step").word("step", std::move(step)).word("target_step", "1000");
  };
  run({
      {"nobody told", [=](Pile& p) { in_use(p); }, "port_in_use", "port:this/29517", kCritical,
       kMedium, kMedium},
      {"another port",
       [=](Pile& p) {
         in_use(p);
         p.fact(Listener{29518, "torchrun", 77});
       },
       "port_in_use", "port:this/29517", kCritical, kMedium, kMedium},
      {"held",
       [=](Pile& p) {
         in_use(p);
         p.fact(Listener{29517, "torchrun", 77});
       },
       "port_in_use", "process:77", kCritical, kHigh},
      {"complete",
       [=](Pile& p) {
         p.fact(job("4", "COMPLETED"));
         last(p, "1000");
       },
       "", ""},
      {"nearly, logged each hundredth",
       [=](Pile& p) {
         p.fact(job("4", "COMPLETED"));
         last(p, "950");
       },
       "", ""},
      {"early",
       [=](Pile& p) {
         p.fact(job("4", "COMPLETED"));
         last(p, "300");
       },
       "run_incomplete_exit_zero", ""},
      {"trials agree",
       [=](Pile& p) {
         trial(p, {"71"}, true);
         trial(p, {"71", "9"}, true);
         trial(p, {"9"}, false);
       },
       "", ""},
      {"a trial without the suspect fails",
       [=](Pile& p) {
         trial(p, {"71"}, true);
         trial(p, {"71", "9"}, true);
         trial(p, {"200"}, true);
       },
       "suspect_not_confirmed", "", kWarning},
  });
}

}  // namespace
}  // namespace muster
