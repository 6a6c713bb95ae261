#include "core/comms/watchdog_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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

LogReading read(std::string_view log, WatchdogReader::Options options) {
  WatchdogReader reader(std::move(options));
  std::uint64_t number = 0;
  for (const std::string_view line : split(log, '\n')) reader.line(line, ++number);
  return reader.finish();
}

WatchdogReader::Options options_of(std::optional<std::int32_t> rank = std::nullopt) {
  return {.source = "a.log", .rank = rank, .written = parse_timestamp("2026-08-02T00:00:00Z")->at};
}

JoinedWitnesses joined(std::string_view log, std::optional<std::int32_t> rank = std::nullopt) {
  std::vector<LogReading> logs;
  logs.push_back(read(log, options_of(rank)));
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

void expect_rows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(shown(joined(row.log, row.file_rank)), row.expected) << row.name;
  }
}

#define GLOG "[E801 10:00:00.000000001 ProcessGroupNCCL.cpp:629] "

TEST(WatchdogReader, ConsequencesAreNoWitnesses) {
  expect_rows({
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
  });
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

TEST(WatchdogReader, Watchdog) {
  expect_rows({
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
       "[rank0]:\t   - [1] finished collective #3, but didn't join collective #4 (count from 1)",
       ""},
      {"mismatch: the writer's own call",
       "[rank4]: Traceback (most recent call last):\n[rank4]: RuntimeError: Detected mismatch "
       "between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint("
       "SequenceNumber=5, OpType=ALLREDUCE, TensorShape=[1]), but Rank 1 is running collective: "
       "CollectiveFingerPrint(SequenceNumber=5, OpType=BROADCAST).",
       "4 last_enqueued seq=5 enq=5 op=ALLREDUCE"},
  });
}

}  // namespace
}  // namespace muster
