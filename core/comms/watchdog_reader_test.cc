#include "core/comms/watchdog_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "base/timestamp.h"
#include "core/comms/witness_join.h"

namespace muster {
namespace {

std::string kind_name(WitnessKind kind) {
  constexpr const char* kNames[] = {"exception",      "gpu_oom",       "host_oom_killed",
                                    "killed",         "crashed",       "cuda_error",
                                    "gpu_lost",       "network_error", "collective_timeout",
                                    "last_enqueued",  "dump_signal",   "left_script",
                                    "watchdog_stuck", "gil_held",      "ras_missing",
                                    "ras_behind"};
  return kNames[static_cast<int>(kind)];
}

// "3 collective_timeout group=0 seq=7 op=ALLREDUCE"
std::string show(const RankWitness& w) {
  std::string out = fmt::format("{} {}", w.rank, kind_name(w.kind));
  if (w.group) out += " group=" + *w.group;
  if (w.seq) out += fmt::format(" seq={}", *w.seq);
  if (w.enqueued) out += fmt::format(" enq={}", *w.enqueued);
  if (w.completed) out += fmt::format(" done={}", *w.completed);
  if (w.pending) out += fmt::format(" pending={}", *w.pending);
  if (w.code) out += fmt::format(" code={}", *w.code);
  if (!w.op.empty()) out += " op=" + w.op;
  return out;
}

bool has_anchor(std::string_view line) {
  const auto anchors = watchdog_anchors();
  return std::any_of(anchors.begin(), anchors.end(), [line](std::string_view anchor) {
    return line.find(anchor) != std::string_view::npos;
  });
}

// With `all`, every line; else those that whoever reads fast would show.
LogReading read(std::string_view log, WatchdogReader::Options options, bool all = true) {
  WatchdogReader reader(std::move(options));
  std::uint64_t number = 0;
  for (const std::string_view line : split(log, '\n')) {
    ++number;
    if (all || reader.wants_next() || has_anchor(line)) reader.line(line, number);
  }
  return reader.finish();
}

WatchdogReader::Options options_of(std::optional<std::int32_t> rank = std::nullopt) {
  return {.source = "a.log", .rank = rank, .written = parse_timestamp("2026-08-02T00:00:00Z")->at};
}

JoinedWitnesses joined(std::string_view log, std::optional<std::int32_t> rank = std::nullopt,
                       bool all = true) {
  std::vector<LogReading> logs;
  logs.push_back(read(log, options_of(rank), all));
  return join_witnesses(std::move(logs));
}

std::string shown(const JoinedWitnesses& all) {
  std::string out;
  for (const RankWitness& w : all.witnesses) out += (out.empty() ? "" : "; ") + show(w);
  return out;
}

struct Row {
  const char* name;
  const char* log;
  const char* expected;
  std::optional<std::int32_t> file_rank = std::nullopt;
};

void expect_rows(std::span<const Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(shown(joined(row.log, row.file_rank)), row.expected) << row.name;
    EXPECT_EQ(shown(joined(row.log, row.file_rank, false)), row.expected)
        << row.name << ", only lines with anchors";
  }
}

#define GLOG "[E801 10:00:00.000000001 ProcessGroupNCCL.cpp:629] "

TEST(WatchdogReader, ConsequencesAreNoWitnesses) {
  const Row rows[] = {
      {"teardown", "[rank1]:" GLOG "Some NCCL operations have failed or timed out. Due to x", ""},
      {"taking down", "[rank1]:" GLOG "To avoid data inconsistency, we are taking the entire", ""},
      {"end marker",
       "[rank1]:[F801 10:00:00.1 ProcessGroupNCCL.cpp:9] [PG ID 0 PG GUID 0 Rank 1] Terminating "
       "the process after attempting to dump debug info, due to collective timeout",
       ""},
      {"store gone",
       "[rank1]:" GLOG "Failed to check the \"should dump\" flag on TCPStore, (maybe)", ""},
      {"store reset",
       "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/a.py\", line 1, in f\n"
       "[rank1]: torch.distributed.DistNetworkError: Connection reset by peer",
       ""},
      {"recvValue",
       "[rank1]: Traceback (most recent call last):\n"
       "[rank1]: RuntimeError: recvValue failed on SocketImpl(fd=3): Failed to recv, got 0 bytes",
       ""},
      {"aborted communicator",
       "[rank1]: Traceback (most recent call last):\n"
       "[rank1]: RuntimeError: NCCL communicator was aborted on rank 1.",
       ""},
      {"unset memory",
       "[rank6]: Traceback (most recent call last):\n"
       "[rank6]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate more than 1EB "
       "memory.",
       ""},
      {"flushed",
       "[rank1]: n1:7:9 [2] x/net_ib.cc:9 NCCL WARN NET/IB: Got completion from peer "
       "10.0.0.9<1> with status=IBV_WC_WR_FLUSH_ERR(5) opcode=3",
       ""},
      {"port back",
       "[rank1]: n1:7:9 [2] x.cc:9 NCCL WARN NET/IB : mlx5_3:1 Got async error event: port active",
       ""},
      {"INFO", "[rank1]: n1:7:9 [2] NCCL INFO misc/socket.cc:749 -> 6", ""},
      {"a trainer that goes on", "[rank1]: caught CUDA out of memory, trying a smaller batch", ""},
      {"empty", "", ""},
      {"only a prefix", "[rank1]:", ""},
      {"half a prefix", "[rank", ""},
      {"a launcher's SIGTERM",
       "  time      : 2026-08-01_10:00:00\n  host      : n1\n  rank      : 3 (local_rank: 3)\n"
       "  exitcode  : -15 (pid: 77)",
       ""},
  };
  expect_rows(rows);
}

TEST(WatchdogReader, SigabrtAfterTheWatchdogIsNoCrash) {
  const char* block =
      "Root Cause (first observed failure):\n[0]:\n  time      : 2026-08-01_10:10:00\n"
      "  host      : n1\n  rank      : 1 (local_rank: 1)\n  exitcode  : -6 (pid: 77)\n";
  EXPECT_EQ(shown(joined(block)), "1 crashed code=6");
  const std::string after = std::string("[rank1]:" GLOG
                                        "[Rank 1] Watchdog caught collective operation timeout: "
                                        "WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=1)\n") +
                            block;
  EXPECT_EQ(shown(joined(after)), "1 collective_timeout seq=7 op=ALLREDUCE");
}

const Row kWatchdogRows[] = {
    {"2.0: no tag, no date, the file's rank",
     "[E ProcessGroupNCCL.cpp:474] [Rank 6] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=311, OpType=BROADCAST, Timeout(ms)=1800000) ran for 1800412 milliseconds "
     "before timing out.",
     "6 collective_timeout seq=311 op=BROADCAST", 6},
    {"the same without a rank of the file is nobody's",
     "[E ProcessGroupNCCL.cpp:474] [Rank 6] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=311, OpType=BROADCAST, Timeout(ms)=1800000)",
     ""},
    {"2.3",
     "[rank1]:[E ProcessGroupNCCL.cpp:563] [PG 0 Rank 1] Timeout at NCCL work: 5, last enqueued "
     "NCCL work: 9, last completed NCCL work: 4.",
     "1 last_enqueued group=0 seq=5 enq=9 done=4"},
    {"2.3, a later group has no name",
     "[rank1]:[E ProcessGroupNCCL.cpp:563] [PG 3 Rank 0] Timeout at NCCL work: 5, last enqueued "
     "NCCL work: 9, last completed NCCL work: 4.",
     "1 last_enqueued seq=5 enq=9 done=4"},
    {"2.4",
     "[rank9]:[E902 10:00:00.1 ProcessGroupNCCL.cpp:1] [PG 1 (dp) Rank 2] Exception (either an "
     "error or timeout) detected by watchdog at work: 8, last enqueued NCCL work: 8, last "
     "completed NCCL work: 7.",
     "9 last_enqueued group=dp seq=8 enq=8 done=7"},
    {"2.6",
     "[rank2]:" GLOG "[PG ID 0 PG GUID 0(default_pg) Rank 2]  failure detected by watchdog at "
     "work sequence id: 372981 PG status: last enqueued work: 372981, last completed work: "
     "372980",
     "2 last_enqueued group=0 seq=372981 enq=372981 done=372980"},
    {"garbage is absent",
     "[rank2]:" GLOG "[PG ID 2 PG GUID tp0 Rank 1] failure detected by watchdog at work sequence "
     "id: 4 PG status: last enqueued work: 94837483748374837, last completed work: -9",
     "2 last_enqueued group=tp0 seq=4"},
    {"never started",
     "[rank2]:" GLOG "[PG ID 2 PG GUID tp0 Rank 1] failure detected by watchdog at work sequence "
     "id: 1 PG status: last enqueued work: -1, last completed work: -1",
     "2 last_enqueued group=tp0 seq=1 enq=-1 done=-1"},
    {"default group without a tag",
     GLOG "[PG ID 0 PG GUID 0(default_pg) Rank 4] Watchdog caught collective operation timeout: "
          "WorkNCCL(SeqNum=3, OpType=_ALLGATHER_BASE, NumelIn=1, NumelOut=8, Timeout(ms)=6)",
     "4 collective_timeout group=0 seq=3 op=_ALLGATHER_BASE"},
    {"another group without a tag is nobody's",
     GLOG "[PG ID 1 PG GUID 5(tp) Rank 0] Watchdog caught collective operation timeout: "
          "WorkNCCL(SeqNum=3, OpType=ALLREDUCE, Timeout(ms)=6)",
     ""},
    {"told once",
     "[rank1]:" GLOG "[PG ID 0 PG GUID 0 Rank 1] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=3, OpType=ALLREDUCE, Timeout(ms)=6)\n"
     "[rank1]:" GLOG "[PG ID 0 PG GUID 0 Rank 1] Process group watchdog thread terminated with "
     "exception: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, "
     "OpType=ALLREDUCE, Timeout(ms)=6)",
     "1 collective_timeout group=0 seq=3 op=ALLREDUCE"},
    {"watchdog died of CUDA",
     "[rank1]:" GLOG "[PG ID 0 PG GUID 0 Rank 1] Process group watchdog thread terminated with "
     "exception: CUDA error: an illegal memory access was encountered",
     "1 cuda_error group=0"},
    {"told to dump",
     "[rank3]:" GLOG "[PG ID 0 PG GUID 0 Rank 3] Received a dump signal due to a collective "
     "timeout from rank 1 and we will try our best to dump the debug info. Last enqueued NCCL "
     "work: 41, last completed NCCL work: 41.",
     "3 dump_signal group=0 enq=41 done=41"},
    {"its own signal",
     "[rank1]:" GLOG "[PG ID 0 PG GUID 0 Rank 1] Received a dump signal due to a collective "
     "timeout from this local rank. Last enqueued NCCL work: 42, last completed NCCL work: 41.",
     "1 last_enqueued group=0 enq=42 done=41"},
    {"told by the store",
     "[rank3]:" GLOG "[PG ID 0 PG GUID 0 Rank 3] Observed flight recorder dump signal from "
     "another rank via TCPStore.",
     "3 dump_signal group=0"},
    {"stuck",
     "[rank42]:" GLOG "[PG ID 0 PG GUID 0(default_pg) Rank 42] ProcessGroupNCCL's watchdog got "
     "stuck for 480 seconds without making progress in monitoring enqueued collectives.",
     "42 watchdog_stuck group=0"},
    {"stuck, old",
     "[rank0]:[E ProcessGroupNCCL.cpp:1316] [PG 0 Rank 0] Heartbeat monitor timed out! Process "
     "will be terminated after dumping debug info. workMetaList_.size()=84",
     "0 watchdog_stuck group=0 pending=84"},
    {"GIL", "[rank7]:" GLOG "Could not acquire GIL within 300 ms on exit, possible GIL induced",
     "7 gil_held"},
    {"async",
     "[rank7]:" GLOG "Collective WorkNCCL(SeqNum=5, OpType=SEND, Timeout(ms)=1) raised the "
     "following async exception: NCCL error: remote process exited or there was a network error",
     "7 network_error seq=5 op=SEND"},
    {"blocking wait",
     "[rank7]:" GLOG "Work WorkNCCL(SeqNum=5, OpType=RECV, Timeout(ms)=1) timed out in blocking "
     "wait.",
     "7 collective_timeout seq=5 op=RECV"},
    {"left",
     "[rank3]:[W801 10:00:00.1 ProcessGroupNCCL.cpp:1] WARNING: destroy_process_group() was not "
     "called before program exit, which can leak resources.",
     "3 left_script"},
    {"desync in the default group",
     "[rank0]:" GLOG "[PG ID 0 PG GUID 0(default_pg) Rank 0] timeout\n"
     "[rank0]:\t   - [1, 3] finished collective #3, but didn't join collective #4 (count from 1)",
     "1 last_enqueued group=default_pg enq=3 done=3; 3 last_enqueued group=default_pg enq=3 "
     "done=3"},
    {"desync in another group is a note",
     "[rank0]:\t   - [1] finished collective #3, but didn't join collective #4 (count from 1)", ""},
    {"mismatch: the writer's own call",
     "[rank4]: Traceback (most recent call last):\n[rank4]: RuntimeError: Detected mismatch "
     "between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint("
     "SequenceNumber=5, OpType=ALLREDUCE, TensorShape=[1]), but Rank 1 is running collective: "
     "CollectiveFingerPrint(SequenceNumber=5, OpType=BROADCAST).",
     "4 last_enqueued seq=5 enq=5 op=ALLREDUCE"},
};

TEST(WatchdogReader, Watchdog) {
  expect_rows(kWatchdogRows);
}

constexpr const char* kTimeout =
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, "
    "Timeout(ms)=6)";

TEST(WatchdogReader, WhoseLineItIs) {
  const auto under = [](const std::string& prefix) { return prefix + kTimeout; };
  const std::string rank7 = "7 collective_timeout seq=3 op=ALLREDUCE";
  const std::string tag = "[rank7]:" GLOG;
  struct Prefix {
    const char* name;
    std::string log, expected;
    std::optional<std::int32_t> file_rank = std::nullopt;
  };
  const Prefix rows[] = {
      {"nothing", under(GLOG), ""},
      {"group-local", under(GLOG "[Rank 3] "), ""},
      {"torchrun", under("[default3]:" + tag), rank7},
      {"a role of the user", under("[trainer3]:" + tag), rank7},
      {"Slurm", under("3: " + tag), rank7},
      {"Slurm, padded", under("  3: " + tag), rank7},
      {"Slurm over torchrun", under("1: [default3]:" + tag), rank7},
      {"Kubernetes", under("2026-08-01T10:00:00.123456789Z stderr F " + tag), rank7},
      {"journald", under("Aug 01 10:00:00 n3 python[1234]: " + tag), rank7},
      {"date of a logger", under("2026-08-01 10:00:00,123 " + tag), rank7},
      {"Ray", under("(RayTrainWorker pid=123, ip=10.0.0.3) " + tag), rank7},
      {"Docker", "{\"log\":\"" + under(tag) + "\\n\",\"stream\":\"stderr\",\"time\":\"x\"}", rank7},
      {"colours", under("\x1b[31m" + tag + "\x1b[0m"), rank7},
      {"a progress bar runs into it", under("train:  42%|####    | 42/100 [00:10<00:20]" + tag),
       rank7},
      {"nccl2", under("[TC] " + tag), rank7},
      {"the file's", under(GLOG), rank7, 7},
      {"the tag rules over the file's", under(tag), rank7, 2},
      {"a file with another rank in it is not of one rank",
       under(tag) + "\n" + under(GLOG "[Rank 1] "), rank7, 2},
      {"a task is a rank", under("7: " GLOG), rank7},
      {"tasks that are not ranks", under("0: " + tag) + "\n" + under("1: " GLOG), rank7},
      {"a task explained later",
       "0: Traceback (most recent call last):\n0: ValueError: x\n0: done\n" + under("0: " + tag),
       "7 exception; " + rank7},
      {"a local rank is none of the job", under("[default7]:" GLOG), ""},
      {"a local rank explained later",
       under("[default1]:" GLOG) + "\n" +
           "[default1]:[rank7]:[W801 10:00:00.1 ProcessGroupNCCL.cpp:1] anything",
       rank7},
      {"a local rank of two hosts",
       under("[default1]:" GLOG) +
           "\n[default1]:[rank7]:[W801 10:00:00.1 ProcessGroupNCCL.cpp:1] a"
           "\n[default1]:[rank15]:[W801 10:00:00.1 ProcessGroupNCCL.cpp:1] b",
       ""},
      {"too large", under("[rank99999999999999999999]:" GLOG), ""},
      {"negative", under("[rank-1]:" GLOG), ""},
  };
  for (const Prefix& row : rows) {
    EXPECT_EQ(shown(joined(row.log, row.file_rank)), row.expected) << row.name;
    EXPECT_EQ(shown(joined(row.log, row.file_rank, false)), row.expected)
        << row.name << ", only lines with anchors";
  }
}

TEST(WatchdogReader, TimesAndLines) {
  const auto at = [](std::string_view log) {
    const JoinedWitnesses all = joined(log);
    if (all.witnesses.size() != 1) return std::string("no witness");
    const RankWitness& w = all.witnesses[0];
    return w.at ? format_rfc3339(*w.at, true) : "no time";
  };
  const std::string text = kTimeout;
  EXPECT_EQ(at("[rank1]:[E801 11:28:40.118203377 P.cpp:1] " + text), "2026-08-01T11:28:40.118Z");
  EXPECT_EQ(at("[rank1]:[E1231 23:00:00.5 P.cpp:1] " + text), "2025-12-31T23:00:00.500Z");
  EXPECT_EQ(at("[rank1]:[E P.cpp:1] " + text), "no time");
  EXPECT_EQ(at("[rank1]:[E1399 23:00:00.5 P.cpp:1] " + text), "no time");
  EXPECT_EQ(at("2026-08-01T10:00:00Z stderr F [rank1]: " + text), "2026-08-01T10:00:00.000Z");
  const JoinedWitnesses all = joined("a\nb\n[rank1]: " + text);
  ASSERT_EQ(all.witnesses.size(), 1u);
  EXPECT_EQ(all.witnesses[0].line, 3u);
  EXPECT_EQ(all.witnesses[0].source, "a.log");
}

TEST(WatchdogReader, Tracebacks) {
  const char* log =
      "[rank5]: Traceback (most recent call last):\n"
      "[rank5]:   File \"/srv/train/ddp.py\", line 88, in train\n"
      "[rank5]:     batch = collate(next(it))\n"
      "[rank2]: Traceback (most recent call last):\n"
      "step 7 loss 2.1\n"
      "[rank5]:   File \"/srv/train/data.py\", line 41, in collate\n"
      "[rank2]:   File \"/x/site-packages/torch/f.py\", line 1, in g\n"
      "[rank5]:     return torch.tensor([s[\"input_ids\"] for s in samples])\n"
      "[rank5]:                        ^^^^^^^^^^\n"
      "[rank5]: ValueError: expected sequence of length 4096 at dim 1 (got 4095)\n"
      "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  const JoinedWitnesses all = joined(log);
  ASSERT_EQ(shown(all), "5 exception; 2 gpu_oom");
  EXPECT_EQ(all.witnesses[0].text,
            "ValueError: expected sequence of length 4096 at dim 1 (got 4095) (in collate, "
            "/srv/train/data.py:41)");
  EXPECT_EQ(all.witnesses[0].line, 10u);
  const Row rows[] = {
      {"cut before the exception",
       "[rank5]: Traceback (most recent call last):\n[rank5]:   File \"/a.py\", line 88, in f", ""},
      {"a logger's line is no exception",
       "[rank5]: Traceback (most recent call last):\n[rank5]: INFO: hello\n[rank5]: KeyError: 'x'",
       "5 exception"},
      {"KeyboardInterrupt",
       "[rank5]: Traceback (most recent call last):\n[rank5]: KeyboardInterrupt",
       "5 killed code=2"},
      {"the launcher's own",
       "Traceback (most recent call last):\ntorch.distributed.elastic.multiprocessing.errors."
       "ChildFailedError:",
       "", 0},
      {"network",
       "[rank5]: Traceback (most recent call last):\n[rank5]: torch.distributed.DistBackendError: "
       "NCCL error in: ../x.cpp:3, remote process exited or there was a network error, NCCL "
       "version 2.27.3",
       "5 network_error"},
      {"set up wrongly: a note",
       "[rank5]: Traceback (most recent call last):\n[rank5]: torch.distributed.DistBackendError: "
       "NCCL error in: ../x.cpp:3, invalid usage, NCCL version 2.21.5",
       ""},
      {"ECC",
       "[rank5]: Traceback (most recent call last):\n[rank5]: RuntimeError: CUDA error: "
       "uncorrectable ECC error encountered",
       "5 gpu_lost"},
      {"assert without a traceback",
       "[rank5]: RuntimeError: CUDA error: device-side assert triggered", "5 cuda_error"},
      {"two failures",
       "[rank5]: Traceback (most recent call last):\n[rank5]: KeyError: 'x'\n[rank5]: next\n"
       "[rank5]: Traceback (most recent call last):\n[rank5]: ValueError: y",
       "5 exception; 5 exception"},
  };
  expect_rows(rows);
}

TEST(WatchdogReader, ChainedExceptionsAreOne) {
  const JoinedWitnesses all = joined(
      "Traceback (most recent call last):\n  File \"/srv/a.py\", line 1, in f\nKeyError: 'x'\n\n"
      "During handling of the above exception, another exception occurred:\n\n"
      "Traceback (most recent call last):\n  File \"/srv/a.py\", line 9, in g\nValueError: y\n",
      3);
  ASSERT_EQ(shown(all), "3 exception");
  EXPECT_EQ(all.witnesses[0].text, "ValueError: y (in g, /srv/a.py:9) (after KeyError)");
}

TEST(WatchdogReader, NcclNamesProcessesThatOtherLinesPlace) {
  const Row rows[] = {
      {"nobody places the process",
       "n1:70:90 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
       "n2<51159>",
       ""},
      {"its own init does",
       "n1:70:90 [1] NCCL INFO ncclCommInitRank comm 0x5 rank 9 nranks 16 cudaDev 1 - Init START\n"
       "n1:71:90 [1] NCCL INFO ncclCommInitRank comm 0x5 rank 8 nranks 16 cudaDev 1 - Init START\n"
       "n1:70:90 [1] NCCL INFO ncclCommInitRank comm 0x6 rank 1 nranks 2 cudaDev 1 - Init START\n"
       "n1:70:90 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
       "x",
       "9 network_error"},
      {"the same number on another host",
       "n2:70:90 [1] NCCL INFO ncclCommInitRank comm 0x5 rank 9 nranks 16 cudaDev 1 - Init START\n"
       "n1:70:90 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
       "x",
       ""},
      {"a tag does",
       "[rank4]: n1:70:90 [1] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'",
       "4 gpu_oom"},
      {"CUDA", "[rank4]: n1:70:90 [1] x.cc:1 NCCL WARN Cuda failure 700 'an illegal memory access'",
       "4 cuda_error"},
      {"retries exceeded",
       "[rank4]: [2026-08-01 11:28:58] n1:1:2 [2] transport/net_ib.cc:2 NCCL WARN NET/IB: Got "
       "completion from peer 10.0.0.9<1> with status=IBV_WC_RETRY_EXC_ERR(12) vendor_err=129",
       "4 network_error"},
      {"another communicator's size",
       "[rank4]: n1:70:90 [1] x.cc:1 NCCL WARN Message truncated : "
       "received 8 bytes instead of 4",
       ""},
  };
  expect_rows(rows);
}

TEST(WatchdogReader, EndsOfProcesses) {
  const std::string place =
      "n3:70:90 [1] NCCL INFO ncclCommInitRank comm 0x5 rank 11 nranks 16 x\n";
  const auto block = [](const char* code, bool root) {
    return std::string(root ? "Root Cause (first observed failure):\n[0]:\n"
                            : "Failures:\n[1]:\n") +
           "  time      : 2026-08-01_10:10:00\n  host      : n3.cluster\n"
           "  rank      : 11 (local_rank: 3)\n  exitcode  : " +
           code + " (pid: 70)\n";
  };
  struct End {
    const char* name;
    std::string log, expected;
  };
  const End rows[] = {
      {"root, killed", block("-9", true), "11 killed code=9"},
      {"root, exit status", block("1", true), "11 exception code=1"},
      {"not root, exit status", block("1", false), ""},
      {"not root, killed", block("-9", false), ""},
      {"not root, crashed by itself", block("-11", false), "11 crashed code=11"},
      {"shared memory full", block("-7", true), "11 crashed code=7"},
      {"no time, no block", "  rank      : 3\n  exitcode  : -9 (pid: 4)", ""},
      {"not an exit status", block("0", true), ""},
      {"an impossible one", block("-99999999999", true), ""},
      {"its exception is better",
       block("1", true) + "[rank11]: Traceback (most recent call last):\n[rank11]: KeyError: 1",
       "11 exception"},
      {"kernel, placed by the summary",
       block("-9", true) + "Aug  1 10:09:59 n3 kernel: Out of memory: Killed process 70 (python)",
       "11 host_oom_killed code=9"},
      {"kernel, another host's process",
       block("-9", true) + "Aug  1 10:09:59 n4 kernel: Out of memory: Killed process 70 (python)",
       "11 killed code=9"},
      {"kernel alone", "[ 812.5] Memory cgroup out of memory: Killed process 70 (python)", ""},
      {"Xid", place + "Aug  1 10:09:59 n3 kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=70, name=x",
       "11 gpu_lost code=79"},
      {"Xid of software",
       place + "Aug  1 10:09:59 n3 kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=70, name=x",
       "11 cuda_error code=31"},
      {"Xid of the cleanup",
       place + "Aug  1 10:09:59 n3 kernel: NVRM: Xid (PCI:0000:1b:00): 45, pid=70, name=x", ""},
      {"srun", "srun: error: n3: task 11: Killed", "11 killed code=9"},
      {"srun, later ones are its own doing",
       "srun: error: n3: task 11: Segmentation fault\nsrun: error: n3: task 2: Killed",
       "11 crashed code=11"},
      {"srun, several", "srun: error: n3: tasks 0-7: Killed", ""},
      {"srun, out of memory", "srun: error: n3: task 11: Out Of Memory", "11 host_oom_killed"},
      {"srun, torchrun inside",
       "srun: error: n3: task 1: Exited with exit code 1\n"
       "1: [default0]:[rank8]:[W801 10:00:00.1 ProcessGroupNCCL.cpp:1] a",
       ""},
      {"signal", "n3: task 11: Exited with signal 6 at 10:00", "11 crashed code=6"},
      {"C++ exception",
       "[rank2]: terminate called after throwing an instance of 'gloo::EnforceNotMet'",
       "2 crashed code=6"},
      {"watchdog's own end",
       "[rank2]: terminate called after throwing an instance of 'c10::DistBackendError'", ""},
      {"faulthandler", "[rank2]: Fatal Python error: Segmentation fault", "2 crashed code=11"},
  };
  for (const End& row : rows) EXPECT_EQ(shown(joined(row.log)), row.expected) << row.name;
}

TEST(WatchdogReader, NotesNameNobody) {
  const JoinedWitnesses all =
      joined("[rank1]:" GLOG
             "Stack trace of the failed collective not found, potentially because "
             "FlightRecorder is disabled.\n"
             "[rank2]:" GLOG
             "Stack trace of the failed collective not found, potentially because "
             "FlightRecorder is disabled.\n"
             "RuntimeError: Rank 3 failed to pass monitoredBarrier in 5000 ms\n"
             "Traceback (most recent call last):\nKeyError: 'x'\n");
  EXPECT_TRUE(all.witnesses.empty()) << shown(all);
  ASSERT_EQ(all.notes.size(), 3u);
  EXPECT_NE(all.notes[0].find("a.log:1: Stack trace"), std::string::npos);
  EXPECT_NE(all.notes[1].find("Rank 3 failed to pass"), std::string::npos);
  EXPECT_EQ(all.notes[2], "a.log:5: no line says whose this is: KeyError: 'x'");
}

TEST(WatchdogReader, HostileLogsStayBounded) {
  std::string log;
  for (int i = 0; i < 40000; ++i) {
    log += fmt::format("[rank{}]: Traceback (most recent call last):\n", i);
  }
  for (int i = 0; i < 1000; ++i) {
    log += fmt::format("[rank1]:{}{}{})\n", GLOG,
                       "Watchdog caught collective operation timeout: "
                       "WorkNCCL(SeqNum=",
                       i);
    log += "x.cc:1: Rank 3 timed out in monitoredBarrier after\n";
  }
  const LogReading reading = read(log, options_of());
  EXPECT_EQ(reading.witnesses.size(), 16u);
  EXPECT_EQ(reading.notes.size(), 16u);
}

// Every line of every shape, cut and changed at every byte: never a crash, and never a rank that
// no prefix named.
TEST(WatchdogReader, DamagedAtEveryByte) {
  const std::string log =
      "3: [default3]:[rank11]:" GLOG
      "[PG ID 1 PG GUID 5(tp) Rank 3] failure detected by watchdog "
      "at work sequence id: 4 PG status: last enqueued work: 5, last completed work: 3\n"
      "[rank11]: Traceback (most recent call last):\n"
      "[rank11]:   File \"/srv/a.py\", line 9, in g\n[rank11]: ValueError: y\n"
      "Root Cause (first observed failure):\n  time      : 2026-08-01_10:10:00\n"
      "  rank      : 11 (local_rank: 3)\n  exitcode  : -9 (pid: 70)\n"
      "{\"log\":\"Aug  1 10:09:59 n3 kernel: Out of memory: Killed process 70 (python)\\n\"}\n";
  for (std::size_t i = 0; i <= log.size(); ++i) joined(log.substr(0, i));
  for (std::size_t i = 0; i < log.size(); ++i) {
    for (const char c : {'\0', '\n', ']', '9', '\xff'}) {
      std::string damaged = log;
      damaged[i] = c;
      joined(damaged);
    }
  }
}

}  // namespace
}  // namespace muster
