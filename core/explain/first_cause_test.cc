#include "core/explain/first_cause.h"

#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

void lost(Pile& p, const std::string& host, double at, std::string pci = "0000:3b:00") {
  p.source = "kern." + host;
  p.xid(79, gpu_fell_off_bus, std::move(pci)).host(host).at(at);
  p.source = "job.log";
}
void threw(Pile& p, int rank, double at, const std::string& host,
           std::string text = "KeyError: 'x'") {
  p.source = "out." + host;
  p.line("exception", rank_exception, EventRole::root, std::move(text))
      .rank(rank)
      .at(at)
      .host(host);
  p.source = "job.log";
}

TEST(FirstCause, NothingToExplain) {
  run({
      {"an empty pile", [](Pile&) {}, "", ""},
      {"a run that goes well",
       [](Pile& p) {
         p.context("save_begin").at(1);
         p.context("save_end").at(9);
         p.context("eval_begin").at(20);
         p.context("last_step").at(99);
       },
       "", ""},
      {"facts that are fine",
       [](Pile& p) {
         DiskSpace d;
         d.mount = "/";
         d.avail = 9e12;
         p.fact(d);
         p.fact(ServiceState{"nvidia-fabricmanager", true, "active"});
       },
       "", ""},
      {"a harmless line", [](Pile& p) { p.line("noise", harmless_message, EventRole::benign); },
       "harmless_message", "", kOk},
      {"ends alone",
       [](Pile& p) { p.line("end", undetermined, EventRole::teardown, "Sending SIGTERM"); },
       "evidence_missing", "", kInfo, kLow, kLow},
      {"only those who lost another", [](Pile& p) { p.cascade("ncclRemoteError").rank(4); },
       "undetermined", "", kCritical, kLow, kLow},
      {"a killed process alone",
       [](Pile& p) {
         p.line("exit", undetermined, EventRole::teardown, "exit status")
             .rank(3)
             .word("signal", "9");
       },
       "undetermined", "rank:3", kCritical, kLow, kLow},
  });
}

TEST(FirstCause, TheEarliestOfThoseThatCanBeTheCause) {
  run({
      {"a GPU, then time-outs",
       [](Pile& p) {
         lost(p, "n1", 10);
         p.timeouts(0, 7, 1900);
       },
       "gpu_fell_off_bus", "gpu:n1/0000:3b:00.0", kCritical, kHigh},
      {"the same time-outs, an exception before them",
       [](Pile& p) {
         threw(p, 4, 10, "n2");
         p.timeouts(0, 7, 1900, 4);
       },
       "rank_exception", "rank:4", kCritical, kHigh},
      {"the same time-outs, the exception long after",
       [](Pile& p) {
         p.timeouts(0, 7, 1900);
         threw(p, 4, 4000, "n2");
       },
       "collective_hang", ""},
      {"memory errors that come of the end",
       [](Pile& p) {
         p.timeout(6, 1800);
         p.root(gpu_oom, "CUDA out of memory. Tried to allocate more than 1EB memory.");
       },
       "collective_hang", ""},
      {"the rank gave up waiting, then threw",
       [](Pile& p) {
         p.timeout(6, 1800);
         p.root(rank_exception, "KeyError").rank(6).at(1801);
       },
       "collective_hang", ""},
      {"a broken connection in an exception",
       [](Pile& p) {
         threw(p, 2, 5, "n1",
               "torch.distributed.DistBackendError: NCCL error in: x, remote process exited or "
               "there was a network error");
         threw(p, 4, 400, "n2");
       },
       "rank_exception", "rank:4"},
      {"an exception of another run before",
       [](Pile& p) {
         threw(p, 2, 5, "n1");
         p.source = "out.n1";
         p.context("last_step").at(4000).host("n1");
         lost(p, "n1", 9000);
       },
       "gpu_fell_off_bus", "gpu:n1/0000:3b:00.0"},
      {"a notice before",
       [](Pile& p) {
         p.xid(145, nvlink_nonfatal, "0000:01:00").host("n1").at(1).severity(kInfo);
         threw(p, 4, 5000, "n2");
       },
       "rank_exception", "rank:4"},
      {"a slow link before",
       [](Pile& p) {
         p.root(pcie_link_degraded, "limited width").host("n1").at(1);
         threw(p, 4, 9000, "n2");
       },
       "rank_exception", "rank:4"},
      {"only a slow link",
       [](Pile& p) { p.root(pcie_link_degraded, "limited width").on(CulpritKind::gpu, "n1/3"); },
       "pcie_link_degraded", "gpu:n1/3", kWarning},
  });
}

TEST(FirstCause, DeeperWhereClocksDoNotTell) {
  run({
      {"one host: the kernel notes it a second late",
       [](Pile& p) {
         threw(p, 4, 100, "n1");
         lost(p, "n1", 103);
       },
       "gpu_fell_off_bus", "gpu:n1/0000:3b:00.0", kCritical, kHigh},
      {"no clocks at all",
       [](Pile& p) {
         p.source = "a";
         p.root(rank_exception, "CUDA error: unknown error").rank(4).host("n1");
         p.source = "b";
         p.xid(79, gpu_fell_off_bus, "0000:3b:00").host("n1");
       },
       "gpu_fell_off_bus", "gpu:n1/0000:3b:00.0"},
      {"two hosts within their doubt: the deeper",
       [](Pile& p) {
         threw(p, 4, 100, "n2");
         lost(p, "n1", 200);
       },
       "gpu_fell_off_bus", "gpu:n1/0000:3b:00.0", kCritical, kMedium, kMedium},
      {"two hosts, one kind each: not known",
       [](Pile& p) {
         lost(p, "n1", 200);
         p.source = "kern.n2";
         p.xid(119, gpu_firmware_hang, "0000:01:00").host("n2").at(150);
       },
       "undetermined", "gpu:n2/0000:01:00.0 gpu:n1/0000:3b:00.0", kCritical, kLow, kLow},
      {"two hosts beyond their doubt",
       [](Pile& p) {
         lost(p, "n1", 900);
         p.source = "kern.n2";
         p.xid(119, gpu_firmware_hang, "0000:01:00").host("n2").at(150);
       },
       "gpu_firmware_hang", "gpu:n2/0000:01:00.0", kCritical, kHigh},
      {"an exception well before a lost GPU",
       [](Pile& p) {
         threw(p, 4, 100, "n1");
         lost(p, "n1", 1000);
       },
       "rank_exception", "rank:4"},
  });
}

TEST(FirstCause, WhatTheRunGotOver) {
  run({
      {"an exception that was handled",
       [](Pile& p) {
         p.root(rank_exception, "ConnectionError").rank(0).at(10);
         p.context("last_step").at(5000);
       },
       "undetermined", "rank:0", kInfo, kLow, kLow},
      {"steps long behind it, no stamps",
       [](Pile& p) {
         p.root(rank_exception, "ConnectionError").rank(0);
         p.context("last_step");
         p.input.events.back().line = 90;
       },
       "undetermined", "rank:0", kInfo, kLow, kLow},
      {"steps behind it, and others complain",
       [](Pile& p) {
         p.root(rank_exception, "KeyError").rank(3);
         p.cascade().rank(1);
         p.context("last_step");
         p.input.events.back().line = 90;
       },
       "rank_exception", "rank:3"},
      {"an exception, no stamps, and the end",
       [](Pile& p) {
         p.root(rank_exception, "ConnectionError").rank(0);
         p.context("finished");
       },
       "undetermined", "rank:0", kInfo, kLow, kLow},
      {"a step a moment later of another rank",
       [](Pile& p) {
         p.root(rank_exception, "KeyError").rank(3).at(10);
         p.context("last_step").at(14);
       },
       "rank_exception", "rank:3"},
      {"a kill hours before the wait began",
       [](Pile& p) {
         p.source = "kern";
         p.line("oom_kill", host_oom_killed, EventRole::root, "Killed process")
             .host("n1")
             .pid(7)
             .word("process", "python3")
             .at(10);
         p.source = "job.log";
         p.timeouts(0, 7, 20'000);
       },
       "host_oom_killed", "process:7", kCritical, kLow, kLow},
      {"a GPU lost hours before, maybe by another zone",
       [](Pile& p) {
         lost(p, "n1", 10);
         p.timeouts(0, 7, 8000);
       },
       "gpu_fell_off_bus", "gpu:n1/0000:3b:00.0", kCritical, kMedium, kMedium},
      {"an exception hours before the wait began",
       [](Pile& p) {
         threw(p, 2, 10, "n1");
         p.timeouts(0, 7, 20'000);
       },
       "collective_hang", ""},
      {"complaints of a peer before",
       [](Pile& p) {
         p.fact(RankPlace{40, 47, "n5", ""});
         p.cascade("retry exceeded").host("n1").at(10).word("peer", "n5");
         p.root(watchdog_stuck, "stuck").rank(42).at(490);
       },
       "watchdog_stuck", "rank:42", kCritical, kLow, kLow},
  });
}

TEST(FirstCause, ANoticeWithoutAStampBesideARunThatEnded) {
  run({
      {"a notice without a stamp beside a run that ended, and a wait that broke",
       [](Pile& p) {
         p.context("finished").at(900);
         p.source = "rank_3.log";
         p.root(rank_exception, "ValueError").rank(3);
         p.cascade().rank(1);
       },
       "rank_exception", "rank:3"},
      {"a notice without a stamp beside a run that ended",
       [](Pile& p) {
         p.context("finished").at(900);
         p.source = "rank_3.log";
         p.root(rank_exception, "ValueError").rank(3);
       },
       "undetermined", "rank:3", kInfo, kLow, kLow},
  });
}

TEST(FirstCause, SilentRanksConfirmTheHost) {
  Pile p;
  p.fact(RankPlace{16, 23, "n3", ""});
  p.fact(RankPlace{18, 18, "n3", "0002:00:00"});
  lost(p, "n3", 10, "0002:00:00");
  p.timeouts(0, 15, 1810);
  p.timeouts(24, 31, 1810);
  const Explanation answer = explain(p.input);
  ASSERT_EQ(answer.findings.size(), 1u);
  const Finding& first = answer.findings[0];
  EXPECT_EQ(first.cause, gpu_fell_off_bus);
  EXPECT_EQ(named(first), "gpu:n3/0002:00:00.0");
  EXPECT_EQ(first.confidence, kHigh);
  EXPECT_NE(first.summary.find("rank 18"), std::string::npos) << first.summary;
  EXPECT_NE(first.summary.find("ranks 16 to 23"), std::string::npos) << first.summary;
  ASSERT_EQ(first.evidence.size(), 2u);
  EXPECT_EQ(first.evidence[1].text, "[00:30:10, consequence, 24 ranks] timed out");
}

TEST(FirstCause, WhatAllRanksSayAccusesNone) {
  run({
      {"all ranks at once",
       [](Pile& p) {
         for (int r = 0; r < 16; ++r) p.root(rank_exception, "ImportError: x").rank(r);
       },
       "rank_exception", "", kCritical, kMedium, kMedium},
      {"two ranks at once",
       [](Pile& p) {
         p.root(gpu_oom, "out of memory, 3 GiB").rank(3).at(5);
         p.root(gpu_oom, "out of memory, 4 GiB").rank(9).at(5.2);
       },
       "gpu_oom", "rank:3 rank:9", kCritical, kMedium, kMedium},
      {"whose it is, a later line says",
       [](Pile& p) {
         p.root(loader_worker_crashed, "Unexpected segmentation fault in worker");
         p.root(loader_worker_crashed, "worker (pid 41) is killed by signal").rank(1);
       },
       "loader_worker_crashed", "rank:1", kCritical, kHigh},
      {"one first, others say another thing",
       [](Pile& p) {
         p.root(rank_exception, "KeyError: x").rank(3).at(5);
         p.root(rank_exception, "RuntimeError: aborted").rank(9).at(5.1);
       },
       "rank_exception", "rank:3", kCritical, kHigh},
      {"one first, the same on all later",
       [](Pile& p) {
         for (int r = 0; r < 16; ++r)
           p.root(rank_exception, "ValueError").rank(r).at(r == 5 ? 10 : 40 + r);
       },
       "rank_exception", "rank:5", kCritical, kHigh},
  });
}

// A log of one rank, of which only the first stamp is told beside its lines.
void rank_log(Pile& p, std::int32_t rank, double first) {
  LogSource log;
  log.name = "r" + std::to_string(rank) + ".log";
  log.rank = rank;
  log.first.at = WallTime(std::chrono::hours(24 * 20'000)) + seconds_to_duration(first);
  p.input.sources.push_back(log);
  p.source = log.name;
}

void steps_then_key_error(Pile& p) {
  rank_log(p, 2, 0);
  p.context("last_step").at(900);
  p.line("exception", rank_exception, EventRole::root, "KeyError: 'mask'").rank(2);
  rank_log(p, 1, 0);
  p.timeout(1, 1500);
}

TEST(FirstCause, WhatIsOlderThanTheRunAccusesNobody) {
  constexpr double kDay = 86'400;
  run({
      {"a GPU lost weeks before",
       [](Pile& p) {
         steps_then_key_error(p);
         lost(p, "n7", -19 * kDay);
       },
       "rank_exception", "rank:2"},
      {"two days before, time-outs alone",
       [](Pile& p) {
         rank_log(p, 1, 0);
         p.timeout(1, 1500);
         lost(p, "", -2 * kDay);
       },
       "collective_hang", ""},
      {"weeks before and again in the run",
       [](Pile& p) {
         lost(p, "n7", -19 * kDay);
         rank_log(p, 1, 0);
         p.timeout(1, 1500);
         lost(p, "n7", 700, "0000:5e:00");
       },
       "gpu_fell_off_bus", "gpu:n7/0000:5e:00.0", kCritical, kMedium},
      {"nothing but the kernel log", [](Pile& p) { lost(p, "n7", -19 * kDay); }, "gpu_fell_off_bus",
       "gpu:n7/0000:3b:00.0"},
      {"an hour before, and steps behind it",
       [](Pile& p) {
         steps_then_key_error(p);
         lost(p, "", -3600);
       },
       "rank_exception", "rank:2"},
  });
  Pile p;
  steps_then_key_error(p);
  lost(p, "n7", -19 * kDay);
  const Explanation answer = explain(p.input);
  ASSERT_EQ(answer.findings.size(), 2u);
  EXPECT_NE(answer.findings[1].summary.find("18 days before this run"), std::string::npos)
      << answer.findings[1].summary;
  EXPECT_EQ(answer.findings[1].severity, kInfo);
}

TEST(FirstCause, AKernelLogWithoutAClock) {
  const auto uptime = [](Pile& p) {
    p.source = "kern";
    p.xid(94, ecc_contained, "0000:3b:00").boot(9000);
  };
  run({
      {"the program's own line",
       [=](Pile& p) {
         steps_then_key_error(p);
         uptime(p);
       },
       "rank_exception", "rank:2", kCritical, kMedium, kMedium},
      {"the program speaks of its GPU",
       [=](Pile& p) {
         rank_log(p, 2, 0);
         p.line("exception", rank_exception, EventRole::root, "CUDA error: uncorrectable").rank(2);
         uptime(p);
       },
       "ecc_contained", "gpu:0000:3b:00.0", kWarning, kMedium, kMedium},
  });
}

TEST(FirstCause, ATaskIsNoRank) {
  run({
      {"a crash",
       [](Pile& p) {
         p.line("crashed", rank_exception, EventRole::root,
                "srun: error: n4: task 6: Segmentation fault")
             .host("n4")
             .rank(6);
       },
       "rank_exception", "host:n4"},
      {"each rank is a task",
       [](Pile& p) {
         p.fact(RankPlace{4, 7, "n4", ""});
         p.line("crashed", rank_exception, EventRole::root,
                "srun: error: n4: task 6: Segmentation fault")
             .host("n4")
             .rank(6);
       },
       "rank_exception", "rank:6"},
      {"memory, its host told by another line",
       [](Pile& p) {
         p.root(host_oom_killed, "slurmstepd: error: Detected 1 oom_kill event");
         p.root(host_oom_killed, "srun: error: n4: task 6: Out Of Memory")
             .host("n4")
             .rank(6)
             .on(CulpritKind::rank, "6");
       },
       "host_oom_killed", "host:n4"},
  });
}

TEST(FirstCause, ALoopbackAddressIsNobody) {
  for (const char* peer : {"127.0.0.1:4000", "localhost", "[::1]:4000", "0.0.0.0"}) {
    run({{peer,
          [=](Pile& p) {
            p.cascade("Connection closed by peer").rank(1).word("peer", peer);
            p.cascade("Connection closed by peer").rank(2).word("peer", peer);
          },
          "undetermined", "", kCritical, kLow, kLow}});
  }
  run({{"a rank that threw",
        [](Pile& p) {
          p.cascade("Connection closed by peer").rank(1).word("peer", "127.0.0.1:4000");
          p.line("crashed", rank_exception, EventRole::teardown,
                 "terminate called after throwing an instance of 'gloo::EnforceNotMet'")
              .rank(3);
        },
        "undetermined", "", kCritical, kLow, kLow}});
}

TEST(FirstCause, LogsOfRanksOneBehindTheOther) {
  run({{"a traceback between time-outs that came later",
        [](Pile& p) {
          p.timeout(0, 1500);
          p.timeout(1, 1500.1);
          p.root(rank_exception, "KeyError: 'mask'");
          p.input.events.back().above.at =
              WallTime(std::chrono::hours(24 * 20'000)) + std::chrono::seconds(880);
          p.timeout(3, 1500.2);
        },
        "rank_exception", ""}});
}

TEST(FirstCause, ARankWhoseLogWasNotRead) {
  const auto seven = [](Pile& p) {
    for (int r = 0; r < 8; ++r) {
      if (r == 3) continue;
      rank_log(p, r, 0);
      p.timeout(r, 1500 + 0.1 * r);
    }
  };
  run({
      {"no log of it", seven, "rank_behind", "", kCritical, kLow, kLow},
      {"a log that says nothing",
       [=](Pile& p) {
         seven(p);
         rank_log(p, 3, 0);
       },
       "rank_behind", "rank:3", kCritical, kMedium, kMedium},
      {"one log of all", [](Pile& p) { p.timeouts(0, 7, 1500, 3); }, "rank_behind", "rank:3",
       kCritical, kLow, kMedium},
  });
  Pile p;
  seven(p);
  const Explanation answer = explain(p.input);
  ASSERT_FALSE(answer.findings.empty());
  EXPECT_EQ(answer.findings[0].next, "the log of rank 3 is not among what was read: fetch it");
}

TEST(FirstCause, EvidenceIsBounded) {
  Pile p;
  for (int i = 0; i < 2000; ++i) {
    p.line("rule" + std::to_string(i), undetermined, EventRole::cascade, std::string(900, 'x'))
        .rank(i);
    p.xid(119, gpu_firmware_hang, "0000:3b:00").host("n" + std::to_string(i)).at(i);
  }
  const Explanation answer = explain(p.input);
  ASSERT_FALSE(answer.findings.empty());
  EXPECT_LE(answer.findings.size(), 8u);
  EXPECT_LE(answer.findings[0].culprits.size(), 64u);
  EXPECT_LE(answer.findings[0].evidence.size(), 16u);
  for (const Evidence& e : answer.findings[0].evidence) EXPECT_LE(e.text.size(), 512u);
}

}  // namespace
}  // namespace muster
