// Lines of logs: a trainer's, a watchdog's, and a trainer's behind a traceback that never ended.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <string>

#include "base/text.h"
#include "core/comms/watchdog_reader.h"

namespace {

std::string ordinary_log(int lines) {
  std::string log;
  for (int i = 0; i < lines; ++i) {
    log += fmt::format(
        "2026-08-01 10:{:02}:{:02},{:03} INFO train.py:212 step {} | loss 2.{:04} | grad_norm 0.51 "
        "| "
        "lr 3.0e-4 | tokens/s 51234 | mfu 41.2%\n",
        i / 60 % 60, i % 60, i % 1000, i, i % 10000);
  }
  return log;
}

std::string failing_log(int lines) {
  std::string log;
  for (int i = 0; i < lines; ++i) {
    log += fmt::format(
        "[default{}]:[rank{}]:[E801 10:00:00.000000001 ProcessGroupNCCL.cpp:2168] [PG ID 0 PG GUID "
        "0(default_pg) Rank {}] failure detected by watchdog at work sequence id: 7 PG status: "
        "last "
        "enqueued work: {}, last completed work: 6\n",
        i % 8, i, i, i);
  }
  return log;
}

void read(benchmark::State& state, const std::string& log) {
  for (auto _ : state) {
    muster::WatchdogReader reader({.source = "log", .rank = std::nullopt, .written = {}});
    std::uint64_t number = 0;
    for (const std::string_view line : muster::split(log, '\n')) reader.line(line, ++number);
    benchmark::DoNotOptimize(reader.finish());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.size()));
}

void ordinary(benchmark::State& state) {
  read(state, ordinary_log(50'000));
}
void failing(benchmark::State& state) {
  read(state, failing_log(5'000));
}
// A rank died long ago and its traceback was never followed by another line of it.
void behind_a_traceback(benchmark::State& state) {
  read(state, "[rank5]: Traceback (most recent call last):\n[rank5]: KeyError: 1\n" +
                  ordinary_log(50'000));
}

BENCHMARK(ordinary)->Unit(benchmark::kMillisecond);
BENCHMARK(failing)->Unit(benchmark::kMillisecond);
BENCHMARK(behind_a_traceback)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
