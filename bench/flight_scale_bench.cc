#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/trace_run.h"
#include "tests/support/flight_writer.h"

// Reading and judging the dumps of a whole job: N ranks x 2,000 entries with frames in one world
// group, rank 3 behind. SIMULATED; the files are written to a temporary folder first. The bar is
// 1,024 ranks in 1.5 s on two cores and 300 MB.

namespace muster {
namespace {

constexpr std::size_t kEntries = 2000;

FlightDump dump_of(std::int32_t rank, std::int32_t ranks) {
  FlightDump dump;
  dump.rank = rank;
  dump.version = "2.10";
  dump.library_version = "2.27.5";
  dump.stacks.emplace_back();
  for (int line = 0; line < 25; ++line) {
    dump.frames.push_back({"step_" + std::to_string(line), "/srv/train/train.py", 100 + line});
  }
  for (std::uint32_t s = 0; s < 5; ++s) {
    FlightStack stack;
    for (std::uint32_t f = s; f < 25; ++f) stack.push_back(f);
    dump.stacks.push_back(stack);
  }
  dump.signatures.push_back(
      {"nccl:_all_gather_base", {{4096}}, {{4096 * 8}}, {"BFloat16"}, {"BFloat16"}});
  dump.signatures.push_back(
      {"nccl:_reduce_scatter_base", {{4096 * 8}}, {{4096}}, {"BFloat16"}, {"BFloat16"}});
  FlightGroup world;
  world.name = "0";
  world.description = "default_pg";
  world.ranks.emplace();
  for (std::int32_t r = 0; r < ranks; ++r) world.ranks->push_back(r);
  world.pg_id = 0;
  const std::int64_t newest = 5000 - (rank == 3 ? 1 : 0);
  world.last_enqueued = newest;
  world.last_completed = 4999;
  dump.groups.push_back(world);
  for (std::int64_t seq = newest - static_cast<std::int64_t>(kEntries) + 1; seq <= newest; ++seq) {
    FlightEntry entry;
    entry.record_id = seq;
    entry.seq = seq;
    entry.p2p_seq = 0;
    entry.created_ns = 1'780'000'000'000'000'000 + seq * 20'000'000;
    entry.timeout_ms = 600'000;
    entry.signature = static_cast<std::uint32_t>(seq % 2);
    entry.stack = static_cast<std::uint32_t>(1 + seq % 5);
    entry.state = seq < 5000 ? FlightState::completed : FlightState::scheduled;
    entry.retired = seq < 5000;
    if (seq < 5000) entry.completed_seen_ns = entry.created_ns + 15'000'000;
    dump.entries.push_back(entry);
  }
  return dump;
}

std::filesystem::path folder_of(std::int32_t ranks) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("muster_flight_" + std::to_string(ranks));
  std::filesystem::create_directories(folder);
  for (std::int32_t r = 0; r < ranks; ++r) {
    const auto path = folder / ("comm_lib_trace_rank_" + std::to_string(r));
    std::ofstream(path, std::ios::binary) << flight_pickle(dump_of(r, ranks));
  }
  return folder;
}

void BM_TraceFolder(benchmark::State& state) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  const auto folder = folder_of(ranks);
  for (auto _ : state) {
    TraceRequest request;
    request.paths = {folder.string()};
    const auto answer = trace_once(request, real_files());
    const bool right = answer && !answer->report.findings.empty() &&
                       answer->report.findings.front().culprits.size() == 1;
    if (!right) state.SkipWithError("rank 3 was not named");
  }
  std::filesystem::remove_all(folder);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["entries"] = static_cast<double>(ranks) * kEntries;
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(BM_TraceFolder)
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->Arg(2048)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(3);

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
