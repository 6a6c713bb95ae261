// Bytes of flight-recorder dumps read per second and core.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "core/flight/dump_reader.h"
#include "core/flight/pickle_test_kit.h"

namespace muster {
namespace {

// What an FSDP run leaves: 25 frames an entry from a hundred call sites, one group, format 2.10.
class DumpText {
 public:
  explicit DumpText(int frames) : frames_(frames) {}

  std::string write(int entries) {
    text_.dict().pair("version", "2.10").text("pg_config").dict().text("0").dict();
    text_.pair("name", "0").pair("desc", "default_pg").pair("ranks", "[0, 1, 2, 3]");
    text_.end_dict().end_dict().text("pg_status").dict().text("0").dict();
    text_.pair("last_enqueued_collective", 1).pair("last_started_collective", -1);
    text_.pair("last_completed_collective", 1).end_dict().end_dict().text("entries").list();
    for (int i = 0; i < entries; ++i) entry(i);
    return text_.end_list().pair("comm_lib_version", "2.27.3").end_dict().stop();
  }

 private:
  static constexpr int kSites = 100;

  void frame(int site) {
    const auto put = places_.find(site);
    if (put != places_.end()) {
      text_.get(put->second);
      return;
    }
    text_.dict().pair("name", fmt::format("function_{}", site));
    text_.pair("filename",
               fmt::format("/opt/venv/lib/python3.12/site-packages/part_{}.py", site / 9));
    text_.pair("line", 100 + site * 7).end_dict();
    places_[site] = text_.put();
  }

  void sizes(const char* key, std::int64_t size) {
    text_.text(key).list().list().integer(size).end_list().end_list();
  }

  void entry(int i) {
    const std::int64_t at = 1'780'000'000'000'000'000 + i * 25'000'000LL;
    text_.dict().text("frames").list();
    for (int f = 0; f < frames_; ++f) frame((f + i % 4 * (f == 0 ? 25 : 0)) % kSites);
    text_.end_list().pair("record_id", i).pair("pg_id", 0).text("process_group");
    text_.text("0").text("default_pg").raw("\x86").pair("collective_seq_id", i + 1);
    text_.pair("p2p_seq_id", 0).pair("op_id", i + 1);
    text_.pair("profiling_name",
               i % 2 == 0 ? "nccl:_all_gather_base" : "nccl:_reduce_scatter_base");
    text_.pair("time_created_ns", at);
    sizes("input_sizes", 4194304 + i % 2);
    text_.text("input_dtypes").list().text("BFloat16").end_list();
    sizes("output_sizes", 33554432 + i % 2);
    text_.text("output_dtypes").list().text("BFloat16").end_list();
    text_.pair("state", "completed").text("time_discovered_started_ns").none();
    text_.pair("time_discovered_completed_ns", at + 100'000'000).text("retired").boolean(true);
    text_.pair("timeout_ms", 600000).text("is_p2p").boolean(false);
    text_.pair("thread_id", "140").pair("thread_name", "pt_main_thread").end_dict();
  }

  int frames_;
  PickleText text_;
  std::map<int, std::uint32_t> places_;
};

void read(benchmark::State& state, const std::string& bytes, std::size_t entries) {
  FlightReaderScratch scratch;
  for (auto _ : state) {
    const auto dump = read_flight_dump({"rank_0", bytes}, scratch);
    MUSTER_CHECK(dump && dump->entries.size() == entries, "the dump is read");
    benchmark::DoNotOptimize(dump->entries.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
  state.counters["kB"] = static_cast<double>(bytes.size()) / 1000;
}

void PickledDump(benchmark::State& state) {
  const auto entries = static_cast<int>(state.range(0));
  const std::string bytes = DumpText(static_cast<int>(state.range(1))).write(entries);
  read(state, bytes, static_cast<std::size_t>(entries));
}
BENCHMARK(PickledDump)
    ->Args({2000, 0})
    ->Args({2000, 25})
    ->Args({2000, 60})
    ->Args({100'000, 25})
    ->Unit(benchmark::kMicrosecond);

// The same bytes for ever.
class Endless final : public FlightInput {
 public:
  explicit Endless(std::string again) : again_(std::move(again)) {
    while (again_.size() < FlightWindow::kChunkBytes) again_ += again_;
  }
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), again_.size());
    return again_.copy(buffer.data(), count);
  }

 private:
  std::string again_;
};

// A file of any length that begins like a dump, until it is refused or given up; the bar is 0.1 s.
void Garbage(benchmark::State& state, const std::string& head, const std::string& again) {
  for (auto _ : state) {
    FlightReaderScratch scratch;  // as for the first file of a run
    Endless rest(again);
    const auto dump = read_flight_dump({"rank_0", head, &rest}, scratch);
    MUSTER_CHECK(!dump || dump->entries.empty(), "garbage has no entries");
  }
}

using namespace std::string_literals;
const std::string kRows = "\x80\x02}(X\x07\0\0\0entries](}("s;

BENCHMARK_CAPTURE(Garbage, empty_tuples, "\x80\x02}"s, ")"s)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Garbage, tuples_in_tuples, "\x80\x02N"s, "\x85"s)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Garbage, JSON_commas, "["s, ","s)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Garbage, row_of_values, kRows, "N"s)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Garbage, row_of_puts, kRows, "Nq\0"s)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Garbage, row_of_floats, kRows, "G12345678"s)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Garbage, JSON_row, R"({"entries":[{"a":[)"s, "1,"s)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Garbage, JSON_groups, R"({"pg_config":{)"s, R"("a":{)"s)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
