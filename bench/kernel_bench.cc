// Lines of logs as the reader of kernel logs sees them: a trainer's, a quiet kernel's, and a GPU's
// that says the same for hours.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <string>

#include "base/line_splitter.h"
#include "core/kernel/kernel_reader.h"

namespace {

std::string trainer_log(int lines) {
  std::string log;
  for (int i = 0; i < lines; ++i) {
    log += fmt::format(
        "2026-08-01 10:{:02}:{:02},{:03} INFO train.py:212 step {} | loss 2.{:04} | grad_norm 0.51 "
        "| lr 3.0e-4 | tokens/s 51234 | mfu 41.2%\n",
        i / 60 % 60, i % 60, i % 1000, i, i % 10000);
  }
  return log;
}

std::string quiet_kernel_log(int lines) {
  std::string log;
  for (int i = 0; i < lines; ++i) {
    log += fmt::format(
        "Aug  1 10:{:02}:{:02} n3 kernel: [{}.{:06}] veth{:x}: entered promiscuous mode, port {} "
        "of "
        "br-7 in state forwarding\n",
        i / 60 % 60, i % 60, i, i % 1000000, i, i % 64);
  }
  return log;
}

std::string xid_log(int lines) {
  std::string log;
  for (int i = 0; i < lines; ++i) {
    log += fmt::format(
        "Aug  1 10:{:02}:{:02} n3 kernel: [{}.{:06}] NVRM: Xid (PCI:0000:3b:00): 45, pid=7721300, "
        "name=python3, Ch {:08x}\n",
        i / 60 % 60, i % 60, i, i % 1000000, i);
  }
  return log;
}

void read(benchmark::State& state, const std::string& log) {
  for (auto _ : state) {
    muster::KernelReader reader({.host = "", .written = muster::WallTime{}});
    muster::LineSplitter lines;
    std::uint64_t number = 0;
    const auto on_line = [&](std::string_view line, std::uint64_t) { reader.line(line, ++number); };
    lines.feed(log, on_line);
    lines.finish(on_line);
    benchmark::DoNotOptimize(reader.finish());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.size()));
}

void trainer(benchmark::State& state) {
  read(state, trainer_log(50'000));
}
void quiet_kernel(benchmark::State& state) {
  read(state, quiet_kernel_log(50'000));
}
void one_gpu_repeats_itself(benchmark::State& state) {
  read(state, xid_log(20'000));
}

BENCHMARK(trainer)->Unit(benchmark::kMillisecond);
BENCHMARK(quiet_kernel)->Unit(benchmark::kMillisecond);
BENCHMARK(one_gpu_repeats_itself)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
