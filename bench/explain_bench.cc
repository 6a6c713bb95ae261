// Bytes of logs as `muster explain` sees them, beside `grep -F` on the same bytes in the same run:
// a trainer's log, of which no line means anything, and a dense log of NCCL.
//
// Times are those of the processor, of grep's process too, so that other work on the machine counts
// little. The bars: on lines that match nothing at least half the speed of `grep -F` with 16
// patterns, and 200 MB/s on the logs of NCCL and of its watchdog, also where every line of them
// means something. bench/explain_memory.sh measures the memory of 1 and 10 GB.

#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "app/log_scan.h"

namespace {

using muster::LogAnchors;
using muster::LogScan;
using muster::RuleMatcher;

constexpr int kLines = 500'000;

const std::string& trainer_log() {
  static const std::string kLog = [] {
    std::string log;
    for (int i = 0; i < kLines; ++i) {
      log += fmt::format(
          "2026-08-01 10:{:02}:{:02},{:03} INFO train.py:212 loss 2.{:04} | grad_norm 0.51 | lr "
          "3.0e-4 | tokens/s 51{:03} | mfu 41.2% | mem 71.2 GiB\n",
          i / 60 % 60, i % 60, i % 1000, i % 10000, i * 7 % 1000);
    }
    return log;
  }();
  return kLog;
}

// NCCL_DEBUG=INFO of a start: rings, trees, channels and their ways.
const std::string& nccl_log() {
  static const std::string kLog = [] {
    std::string log;
    for (int i = 0; i < kLines; ++i) {
      const int rank = i % 512, channel = i / 512 % 32;
      switch (i % 4) {
        case 0:
          log += fmt::format(
              "n{:03}:{}:{} [{}] NCCL INFO Channel {:02}/0 : {}[{}] -> {}[{}] [send] via "
              "NET/IB/{}(0)/GDRDMA\n",
              rank / 8, 40000 + rank, 41000 + rank, rank % 8, channel, rank, rank % 8,
              (rank + 8) % 512, rank % 8, rank % 8);
          break;
        case 1:
          log += fmt::format(
              "n{:03}:{}:{} [{}] NCCL INFO Channel {:02}/1 : {}[{}] -> {}[{}] via P2P/CUMEM/read\n",
              rank / 8, 40000 + rank, 41000 + rank, rank % 8, channel, rank, rank % 8,
              (rank + 1) % 512, (rank + 1) % 8);
          break;
        case 2:
          log += fmt::format(
              "n{:03}:{}:{} [{}] NCCL INFO Trees [{}] {}/-1/-1->{}->{} [{}] {}/-1/-1->{}->{}\n",
              rank / 8, 40000 + rank, 41000 + rank, rank % 8, channel, rank + 1, rank, rank - 1,
              channel + 1, rank + 1, rank, rank - 1);
          break;
        default:
          log +=
              fmt::format("n{:03}:{}:{} [{}] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.\n",
                          rank / 8, 40000 + rank, 41000 + rank, rank % 8);
      }
    }
    return log;
  }();
  return kLog;
}

// Logs of which every line means something to a reader, the worst that there is: communicators that
// begin, time-outs of the watchdog, warnings of NCCL. `line` makes the line of a rank.
template <typename Line>
std::string dense_log(const Line& line) {
  std::string log;
  for (int i = 0; i < kLines; ++i) log += line(i, i % 512);
  return log;
}

const std::string& init_log() {
  static const std::string kLog = dense_log([](int i, int rank) {
    return fmt::format(
        "n{:03}:{}:{} [{}] NCCL INFO ncclCommInitRank comm 0x{:x} rank {} nranks 512 cudaDev {} "
        "nvmlDev {} busId {:x}000 commId 0x{:x} - Init START\n",
        rank / 8, 40000 + rank, 41000 + rank, rank % 8, 0x55f0c8000 + i * 64, rank, rank % 8,
        rank % 8, 16 + rank % 8, 0x9a7c0000 + i / 512);
  });
  return kLog;
}

const std::string& watchdog_log() {
  static const std::string kLog = dense_log([](int i, int rank) {
    return fmt::format(
        "[rank{}]:[E801 10:{:02}:{:02}.118203377 ProcessGroupNCCL.cpp:629] [Rank {}] Watchdog "
        "caught collective operation timeout: WorkNCCL(SeqNum={}, OpType=ALLREDUCE, NumelIn=64, "
        "NumelOut=64, Timeout(ms)=600000) ran for 600047 milliseconds before timing out.\n",
        rank, i / 60 % 60, i % 60, rank, 3907 + i / 512);
  });
  return kLog;
}

const std::string& warning_log() {
  static const std::string kLog = dense_log([](int i, int rank) {
    return fmt::format(
        "n{:03}:{}:{} [{}] misc/socket.cc:{} NCCL WARN socketProgress: Connection closed by remote "
        "peer n{:03}-ib0<{}>\n",
        rank / 8, 40000 + rank, 41000 + rank, rank % 8, 49 + i % 2, (rank / 8 + 1) % 64,
        30000 + i % 20000);
  });
  return kLog;
}

const LogAnchors& anchors() {
  static const RuleMatcher kRules = [] {
    const auto rules = muster::builtin_rules();
    return std::move(*RuleMatcher::make({rules.begin(), rules.end()}));
  }();
  static const LogAnchors kAnchors(kRules);
  return kAnchors;
}

double cpu_s(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void scan(benchmark::State& state, const std::string& log) {
  constexpr std::size_t kChunk = 256 * 1024;
  std::size_t events = 0;
  for (auto _ : state) {
    const double before = cpu_s(RUSAGE_SELF);
    LogScan one(anchors(), {.name = "a.log", .host = "", .rank = {}, .written = {}});
    for (std::size_t at = 0; at < log.size(); at += kChunk) {
      one.feed(std::string_view(log).substr(at, kChunk));
    }
    events = one.finish().events.size();
    state.SetIterationTime(cpu_s(RUSAGE_SELF) - before);
  }
  state.counters["events"] = static_cast<double>(events);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.size()));
}

// The whole program of grep, with its start, on a file in the cache of the kernel.
void grep(benchmark::State& state, const std::string& log) {
  const std::string folder = fmt::format("/tmp/muster_explain_bench_{}", getpid());
  const std::string file = folder + ".log", patterns = folder + ".txt";
  std::ofstream(file) << log;
  std::ofstream(patterns) << "NVRM: Xid\nNCCL WARN\nTraceback (most recent\nCUDA out of memory\n"
                             "Watchdog caught\nKilled process\nsegfault at\nConnection closed\n"
                             "No space left\nfallen off the bus\nI/O error\noom-kill\n"
                             "terminated with\nexitcode\nBus error\nlink down\n";
  const std::string command =
      fmt::format("LC_ALL=C grep -F -c -f {} {} > /dev/null", patterns, file);
  for (auto _ : state) {
    const double before = cpu_s(RUSAGE_CHILDREN);
    if (std::system(command.c_str()) < 0) state.SkipWithError("grep does not start");
    state.SetIterationTime(cpu_s(RUSAGE_CHILDREN) - before);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.size()));
  std::remove(file.c_str());
  std::remove(patterns.c_str());
}

void explain_trainer(benchmark::State& state) {
  scan(state, trainer_log());
}
void grep_trainer(benchmark::State& state) {
  grep(state, trainer_log());
}
void explain_nccl(benchmark::State& state) {
  scan(state, nccl_log());
}
void grep_nccl(benchmark::State& state) {
  grep(state, nccl_log());
}

void explain_init(benchmark::State& state) {
  scan(state, init_log());
}
void explain_watchdog(benchmark::State& state) {
  scan(state, watchdog_log());
}
void explain_warnings(benchmark::State& state) {
  scan(state, warning_log());
}

BENCHMARK(explain_trainer)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(grep_trainer)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(explain_nccl)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(grep_nccl)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(explain_init)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(explain_watchdog)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(explain_warnings)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace

BENCHMARK_MAIN();
