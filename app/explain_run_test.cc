#include "app/explain_run.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/timestamp.h"
#include "core/model/exit_status.h"
#include "tests/support/memory_files.h"
#include "tests/support/shell.h"

namespace muster {
namespace {

#define LOST "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus."

std::string timeout_of(int rank, const std::string& clock) {
  return fmt::format(
      "[rank{}]:[E801 {}.118203377 ProcessGroupNCCL.cpp:629] [Rank {}] Watchdog caught collective "
      "operation timeout: WorkNCCL(SeqNum=3907, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, "
      "Timeout(ms)=600000) ran for 600047 milliseconds before timing out.\n",
      rank, clock, rank);
}

// A GPU of n12 falls off the bus, and ten minutes later all ranks say so in their way.
void add_night(MemoryFiles& files) {
  const WallTime written = parse_timestamp("2026-08-02T00:00:00Z")->at;
  for (int rank = 0; rank < 8; ++rank) {
    files.add(fmt::format("logs/rank_{}.log", rank),
              "2026-08-01 03:11:30 step 480/4000 loss 1.8\n" + timeout_of(rank, "03:21:41"),
              written);
  }
  files.add("logs/n12_dmesg.txt", "[Sat Aug  1 03:11:40 2026] " LOST "\n", written);
  files.add("logs/n13_dmesg.txt", "[Sat Aug  1 03:11:40 2026] usb: a new device was found\n",
            written);
}

Report answer(std::vector<std::string> paths, Files& files) {
  ExplainRequest request;
  request.paths = std::move(paths);
  request.zones.emplace("", *TimeZone::make("UTC"));
  const auto report = explain_once(request, files);
  EXPECT_TRUE(report) << report.error().context;
  return report ? *report : Report{};
}

bool notes_say(const Report& report, std::string_view text) {
  return std::any_of(report.notes.begin(), report.notes.end(), [text](const std::string& note) {
    return note.find(text) != std::string::npos;
  });
}

TEST(ExplainRun, NothingToReadFails) {
  MemoryFiles files;
  ExplainRequest request;
  request.paths = {"gone.log"};
  const auto report = explain_once(request, files);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().context.find("gone.log"), std::string::npos);
}

TEST(ExplainRun, WhatNobodyKnowsIsNoHealth) {
  struct Row {
    const char *name, *text, *why;  // why: of the blind one; empty: all right
  };
  const Row rows[] = {
      {"a.log", "hello\nworld\n", "no line known here"},
      {"a.log", "", "it is empty"},
      {"gpu.csv", "timestamp, index, power.draw [W], utilization.gpu [%]\n1, 0, 70.1 W, 3 %\n",
       "GPU telemetry: ask muster triage"},
      {"gpu.csv", "2026/08/01 03:00:00.000, 0, 70.10 W, 3 %\n", "GPU telemetry: ask muster triage"},
      {"gpu.csv", "2026/08/01 03:00:00.000, 0, NVIDIA H200, 00000000:18:00.0, 70.10, 3\n",
       "GPU telemetry: ask muster triage"},
      {"steps.csv", "step,step_time\n1,2.5\n2,2.5\n", "a table of steps: ask muster shape"},
      {"trace_0.json", R"({"entries": [], "pg_config": {}})", "ask muster trace"},
      {"image.png", "\x89PNG\x0d\x0a", "no text: not read"},
      {"train.log", "{'loss': 1.8, 'grad_norm': 0.9, 'epoch': 0.4}\n", ""},
      {"train.log", "[batch=480/4000]:\n\t Train loss/train/total: 1.84\n", ""},
      {"train.log", "1|480|Loss: 1.84: 12%|#2\n", ""},
      {"train.log", "2026-08-01 03:11:30 step 480/4000 loss 1.8\n", ""},
      {"dmesg.txt", "[Sat Aug  1 03:11:40 2026] usb: a new device was found\n", ""},
      {"dmesg.txt", "[   12.118203] usb: a new device was found\n", ""},
      {"kern.log", "Aug  1 03:11:40 c3 kernel: usb: a new device was found\n", ""},
  };
  for (const Row& row : rows) {
    MemoryFiles files;
    files.add(row.name, row.text);
    const Report report = answer({row.name}, files);
    EXPECT_TRUE(report.findings.empty()) << row.name << row.why;
    EXPECT_EQ(exit_status_of(report) == ExitStatus::ok, *row.why == '\0') << row.name << row.why;
    if (*row.why == '\0') continue;
    ASSERT_EQ(report.blind.size(), 1u) << row.name << row.why;
    EXPECT_EQ(report.blind[0].reason, row.why);
  }
}

TEST(ExplainRun, BesideAHealthyLogStrangeOnesAreNoAlarm) {
  MemoryFiles files;
  files.add("a.log", "hello\nworld\n");
  files.add("empty.log", "");
  files.add("steps.csv", "step,step_time\n1,2.5\n2,2.5\n");
  files.add("train.log", "2026-08-01 03:11:30 step 480/4000 loss 1.8\n");
  const Report report = answer({"a.log", "empty.log", "steps.csv", "train.log"}, files);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.blind.empty());
  EXPECT_TRUE(notes_say(report, "4 logs, 6 lines"));
  EXPECT_TRUE(notes_say(report, "steps.csv: a table of steps: ask muster shape"));
  EXPECT_TRUE(notes_say(report, "end at step 480 without an end of the run"));
}

TEST(ExplainRun, AFinishedRunHasAnEnd) {
  MemoryFiles files;
  files.add("train.log", "2026-08-01 03:11:30 step 4000/4000 loss 1.8\n");
  EXPECT_FALSE(notes_say(answer({"train.log"}, files), "without an end"));
}

TEST(ExplainRun, WhatCannotBeReadIsBlind) {
  MemoryFiles files;
  files.add("a.log", "step 7/9 loss 1.8\n");
  files.add("image.png", std::string("\x89PNG\x0d\x0a\x1a\x0a\0\0\0\x0d", 12));
  const Report report = answer({"a.log", "gone.log", "image.png"}, files);
  ASSERT_EQ(report.blind.size(), 2u);
  EXPECT_EQ(report.blind[0].source, "gone.log");
  EXPECT_TRUE(report.blind[0].hides_critical);
  EXPECT_EQ(report.blind[1].source, "image.png");
  EXPECT_FALSE(report.blind[1].hides_critical);
}

TEST(ExplainRun, TheFirstCauseOverHostsAndRanks) {
  MemoryFiles files;
  add_night(files);
  const Report report = answer({"logs"}, files);
  ASSERT_FALSE(report.findings.empty());
  const Finding& first = report.findings[0];
  EXPECT_EQ(first.cause, Cause::gpu_fell_off_bus);
  EXPECT_EQ(first.severity, Severity::critical);
  ASSERT_EQ(first.culprits.size(), 1u);
  EXPECT_EQ(first.culprits[0].kind, CulpritKind::gpu);
  EXPECT_EQ(first.culprits[0].id, "n12/0000:9b:00.0");
  EXPECT_TRUE(notes_say(report, "10 logs, 18 lines")) << report.notes[0];
  EXPECT_TRUE(notes_say(report, "times without a zone are read as UTC"));
}

TEST(ExplainRun, TheOrderOfPathsAndThreadsDoesNotMatter) {
  MemoryFiles files;
  add_night(files);
  std::vector<std::string> paths = {"logs/n12_dmesg.txt", "logs/n13_dmesg.txt"};
  for (int rank = 0; rank < 8; ++rank) paths.push_back(fmt::format("logs/rank_{}.log", rank));
  const Finding want = answer(paths, files).findings.at(0);
  for (int round = 0; round < 10; ++round) {
    std::rotate(paths.begin(), paths.begin() + 3, paths.end());
    const Finding got = answer(paths, files).findings.at(0);
    EXPECT_EQ(got.cause, want.cause);
    EXPECT_EQ(got.culprits, want.culprits);
    EXPECT_EQ(got.summary, want.summary);
  }
}

TEST(ExplainRun, OwnRulesComeFirst) {
  MemoryFiles files;
  files.add("a.log", "[rank3]: gremlins in the engine room\n");
  EXPECT_TRUE(answer({"a.log"}, files).findings.empty());
  ExplainRequest request;
  request.paths = {"a.log"};
  LogRule rule;
  rule.name = "gremlins";
  rule.anchor = "gremlins";
  rule.cause = Cause::rank_exception;
  request.rules = {rule};
  const auto report = explain_once(request, files);
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].cause, Cause::rank_exception);
}

TEST(ExplainRun, DumpsAreForAnotherVerb) {
  MemoryFiles files;
  files.add("a.log", "step 7/9 loss 1.8\n");
  files.add("trace_0.json", R"({"entries": [], "pg_config": {}})");
  EXPECT_TRUE(notes_say(answer({"a.log", "trace_0.json"}, files), "ask muster trace"));
}

TEST(ExplainRun, DocumentsOfTheSiteAreNoLogs) {
  MemoryFiles files;
  files.add("a.log", "hello\n");
  files.add("df.txt",
            "Filesystem 1K-blocks Used Available Use% Mounted on\n"
            "/dev/sda1 1000000 1000000 0 100% /scratch\n");
  EXPECT_TRUE(
      notes_say(answer({"a.log", "df.txt"}, files), "1 log, 1 line, 1 listing (df, sacct, ...)"));
}

constexpr std::string_view kLowLimits =
    "core file size          (blocks, -c) 0\n"
    "max locked memory       (kbytes, -l) 64\n"
    "open files                      (-n) 1048576\n"
    "max user processes              (-u) 4096\n";

// The limits of one host say nothing of another, in folders and in archives.
TEST(ExplainRun, DocumentsAreOfTheHostOfTheirFolder) {
  const std::string failed =
      "[rank3]: RuntimeError: NCCL error: Call to ibv_reg_mr_iova2 failed with error Cannot "
      "allocate memory\n";
  for (const std::string host : {"a41", "a42"}) {
    SCOPED_TRACE(host);
    const testing_support::TemporaryFolder folder;
    const std::string in = "cd " + testing_support::shell_word(folder.path());
    ASSERT_EQ(testing_support::run_shell(in + " && mkdir -p top/a41 top/a42").status, 0);
    folder.write("top/a41/rank3.log", failed);
    folder.write("top/a41/dmesg.txt", "[Sat Aug  1 03:11:40 2026] usb: a new device was found\n");
    folder.write("top/a42/dmesg.txt", "[Sat Aug  1 03:11:40 2026] usb: a new device was found\n");
    folder.write("top/" + host + "/ulimit.txt", std::string(kLowLimits));
    folder.write("top/places.txt", "rank 0-7 a41\nrank 8-15 a42\n");
    ASSERT_EQ(testing_support::run_shell(in + " && tar cf all.tar top").status, 0);
    for (const std::string path : {"/top", "/all.tar"}) {
      const Report report = answer({folder.path() + path}, real_files());
      ASSERT_FALSE(report.findings.empty());
      EXPECT_EQ(report.findings[0].confidence == Confidence::high, host == "a41")
          << path << report.findings[0].summary;
    }
  }
}

// A log that names no host lies in the folder of its host, where a machine's own log lies beside
// it. Not that of a whole job, which tells of all.
TEST(ExplainRun, LogsAreOfTheHostOfTheirFolder) {
  struct Row {
    const char *name, *more, *other, *port;
  };
  const Row rows[] = {
      {"one folder alone", "", "b41/notes/dmesg.txt", "this/29511"},
      {"no machine's log beside it", "", "a42/train.log", "this/29511"},
      {"ranks of other hosts", "[rank1]: hello\n[rank9]: OSError: [Errno 5] nothing\n",
       "a42/dmesg.txt", "this/29511"},
      {"two folders", "", "a42/dmesg.txt", "a41/29511"},
      {"one rank", "[rank1]: hello\n", "a42/dmesg.txt", "a41/29511"},
  };
  for (const Row& row : rows) {
    MemoryFiles files;
    files.add(
        "top/a41/train.log",
        std::string("[rank1]: RuntimeError: The server socket has failed to bind. port: 29511, "
                    "useIpv6: 0, code: -98, EADDRINUSE: address already in use\n") +
            row.more);
    const bool machine = std::string(row.other).ends_with("dmesg.txt");
    if (machine) files.add("top/a41/dmesg.txt", "[   12.118203] usb: a new device was found\n");
    files.add(std::string("top/") + row.other, "[   12.118203] usb: a new device was found\n");
    const Report report = answer({"top"}, files);
    ASSERT_FALSE(report.findings.empty()) << row.name;
    ASSERT_FALSE(report.findings[0].culprits.empty()) << row.name;
    EXPECT_EQ(report.findings[0].culprits[0].id, row.port) << row.name;
  }
}

// Shouts of which nobody knows when they were, beside a run that came to its end.
TEST(ExplainRun, AFinishedRunOutlivesItsShouts) {
  const std::string closed = "Connection closed by peer [10.1.2.3]:3321\n";
  const std::string end = "2026-08-01 03:11:32 step 4000/4000 loss 1.8\nTraining completed.\n";
  struct Row {
    const char* name;
    std::string log, other;
    ExitStatus status;
  };
  const Row rows[] = {
      {"no end", "2026-08-01 03:11:32 step 80/4000 loss 1.8\n" + closed, "",
       ExitStatus::cannot_tell},
      {"begun once more",
       end +
           "Resuming from checkpoint at step 3000\n2026-08-01 04:11:32 step 3001/4000 loss 1.8\n" +
           closed,
       "", ExitStatus::cannot_tell},
      {"a reason beside it", end + "2026-08-01 03:11:33 [rank3]: KeyError: 'mask'\n" + closed, "",
       ExitStatus::ok},
      {"behind the end", end + closed, "", ExitStatus::ok},
      {"before the end", closed + end, "", ExitStatus::ok},
      {"in another log", end, closed, ExitStatus::ok},
      {"the last step alone", "2026-08-01 03:11:32 step 4000/4000 loss 1.8\n" + closed, "",
       ExitStatus::ok},
      {"a process that was killed", end, "[rank3]: Killed\nexitcode  : -9 (pid: 4)\n",
       ExitStatus::ok},
  };
  for (const Row& row : rows) {
    MemoryFiles files;
    files.add("train.log", row.log);
    files.add("worker.log", row.other + "hello\n");
    const Report report = answer({"train.log", "worker.log"}, files);
    EXPECT_EQ(exit_status_of(report), row.status)
        << row.name << (report.findings.empty() ? "" : report.findings[0].summary);
    for (const Finding& finding : report.findings) {
      const bool accuses = row.status == ExitStatus::ok && !finding.culprits.empty() &&
                           finding.culprits[0].kind == CulpritKind::host;
      EXPECT_FALSE(accuses) << row.name << finding.summary;
    }
  }
}

// What hangs beside the network of the run.
TEST(ExplainRun, AdaptersBesideTheRunAccuseNobody) {
  struct Row {
    const char* adapter;
    ExitStatus status;
  };
  for (const Row& row :
       {Row{"ens4f0np0 (mlx5_core)", ExitStatus::critical},
        Row{"eno2 (tg3)", ExitStatus::cannot_tell}, Row{"usb0 (cdc_ether)", ExitStatus::ok},
        Row{"enx7a2c01 (rndis_host)", ExitStatus::ok}}) {
    MemoryFiles files;
    files.add("n12_dmesg.txt", std::string("[Sat Aug  1 03:11:40 2026] NETDEV WATCHDOG: ") +
                                   row.adapter + ": transmit queue 0 timed out\n");
    EXPECT_EQ(exit_status_of(answer({"n12_dmesg.txt"}, files)), row.status) << row.adapter;
    add_night(files);
    const Report report = answer({"n12_dmesg.txt", "logs"}, files);
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings[0].cause, Cause::gpu_fell_off_bus) << row.adapter;
  }
}

// Events of Kubernetes as kubectl prints them, the newest first or last.
TEST(ExplainRun, BackOffsThatWereOver) {
  const std::string head = "LAST SEEN   TYPE      REASON    OBJECT        MESSAGE\n";
  const std::string failed =
      "12m         Warning   BackOff   pod/run-0     Back-off pulling image \"reg/train:7\"\n";
  const std::string pulled =
      "11m         Normal    Pulled    pod/run-0     Successfully pulled image \"reg/train:7\"\n";
  struct Row {
    const char* name;
    std::string log;
    ExitStatus status;
  };
  for (const Row& row : {Row{"still", head + failed, ExitStatus::critical},
                         Row{"oldest first", head + failed + pulled, ExitStatus::ok},
                         Row{"newest first", head + pulled + failed, ExitStatus::ok}}) {
    MemoryFiles files;
    files.add("events.txt", row.log);
    EXPECT_EQ(exit_status_of(answer({"events.txt"}, files)), row.status) << row.name;
  }
}

// Behind the end of summer time a zone that was told is an hour less; one that was guessed decides
// nothing.
TEST(ExplainRun, ZonesHoldForTheStampsOfTheirSeason) {
  MemoryFiles files;
  files.add("b7_dmesg.txt",
            "[Sat Oct 24 12:00:00 2026] NVRM: Xid (PCI:0000:9b:00): 45, pid=1, Ch 00000008\n"
            "[Mon Oct 26 03:10:00 2026] " LOST "\n");
  files.add("rank_3.log", "2026-10-26T01:40:00Z [rank3]: KeyError: 'mask'\n");
  ExplainRequest request;
  request.paths = {"b7_dmesg.txt", "rank_3.log"};
  request.zones.emplace("", *TimeZone::make("Europe/Berlin"));
  const auto told = explain_once(request, files);
  request.zone_guessed = true;
  const auto guessed = explain_once(request, files);
  ASSERT_TRUE(told && guessed);
  ASSERT_FALSE(told->findings.empty() || guessed->findings.empty());
  EXPECT_EQ(told->findings[0].cause, Cause::rank_exception) << told->findings[0].summary;
  EXPECT_LT(guessed->findings[0].confidence, Confidence::high) << guessed->findings[0].summary;
}

TEST(ExplainRun, PackedAndRotated) {
  const testing_support::TemporaryFolder folder;
  folder.write("n12_dmesg.log", "[Sat Aug  1 03:11:40 2026] " LOST "\n");
  folder.write("train.log", timeout_of(0, "03:21:41") + timeout_of(1, "03:21:42"));
  const std::string in = "cd " + testing_support::shell_word(folder.path());
  ASSERT_EQ(testing_support::run_shell(in + " && mkdir out && gzip -c n12_dmesg.log > "
                                            "out/n12_dmesg.log.1.gz && tar czf out/all.tar.gz "
                                            "train.log && rm *.log")
                .status,
            0);
  const Report report = answer({folder.path() + "/out"}, real_files());
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].cause, Cause::gpu_fell_off_bus);
  EXPECT_TRUE(notes_say(report, "2 logs, 3 lines"));
}

TEST(ExplainRun, ProgressGoesUp) {
  MemoryFiles files;
  add_night(files);
  ExplainRequest request;
  request.paths = {"logs"};
  ReadProgress last;
  request.on_progress = [&last](const ReadProgress& now) {
    EXPECT_GE(now.bytes, last.bytes);
    EXPECT_GE(now.files, last.files);
    last = now;
  };
  ASSERT_TRUE(explain_once(request, files));
  EXPECT_EQ(last.files, 10u);
  EXPECT_EQ(last.of_files, 10u);
  EXPECT_GT(last.bytes, 1000u);
}

}  // namespace
}  // namespace muster
