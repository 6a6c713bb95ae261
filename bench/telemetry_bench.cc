// Bytes of telemetry per second and core, and a verdict over 4,096 hosts x 8 GPUs at 1 Hz.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "core/telemetry/decoder.h"
#include "core/telemetry/triage.h"

namespace muster {
namespace {

// Counts rows and keeps a sum, so that nothing can be left out.
class CountingSink final : public TelemetrySink {
 public:
  void row(const TelemetryRow& row) override {
    ++rows;
    for (const MetricReading& r : row.readings) sum += r.reading.value_or(0);
  }
  void note(const TelemetryNote&) override { ++notes; }
  std::uint64_t rows = 0, notes = 0;
  double sum = 0;
};

std::string nvsmi_csv(int ticks) {
  std::string out =
      "timestamp, index, uuid, name, power.draw [W], power.limit [W], utilization.gpu [%], "
      "clocks.current.sm [MHz], temperature.gpu, memory.used [MiB]\n";
  for (int t = 0; t < ticks; ++t) {
    for (int g = 0; g < 8; ++g) {
      out += fmt::format(
          "2026/05/14 {:02}:{:02}:{:02}.{:03}, {}, GPU-5a7f0a3c-0000-4000-8000-00000000000{}, "
          "NVIDIA B300 SXM6 AC, {:.2f} W, 1100.00 W, {} %, 1920 MHz, {}, 201234 MiB\n",
          t / 3600 % 24, t / 60 % 60, t % 60, g, g, g, 940 + (t * 7 + g * 13) % 100 + 0.37,
          (t + g) % 5 == 0 ? 99 : 100, 50 + (t + g) % 9);
    }
  }
  return out;
}

// nvidia-smi dmon -s pucm -o DT: the heading comes again every ten ticks.
std::string nvsmi_dmon(int ticks) {
  const std::string heading =
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk"
      "     fb   bar1\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %    MHz    MHz"
      "     MB     MB\n";
  std::string out;
  for (int t = 0; t < ticks; ++t) {
    if (t % 10 == 0) out += heading;
    for (int g = 0; g < 8; ++g) {
      out += fmt::format(
          " 20260514   {:02}:{:02}:{:02}    {:4} {:6} {:6} {:6} {:6} {:6}      0      0   3996   "
          "1920 {:6}      9\n",
          t / 3600 % 24, t / 60 % 60, t % 60, g, 940 + (t * 7 + g * 13) % 100, 50 + (t + g) % 9,
          60 + (t + g) % 7, (t + g) % 5 == 0 ? 99 : 100, 40 + t % 20, 201234 + t % 100);
    }
  }
  return out;
}

// dcgmi dmon -e 155,160,203,204,150,100,252,1002,1004: the heading comes again every ten ticks.
std::string dcgmi_dmon(int ticks) {
  const std::string heading =
      "#Entity   POWER          EPLMT      GPUTL  MCUTL  TMPTR  SMCLK  FBUSD    SMACT     TENSO\n"
      "ID        W              W                        C             MB                      \n";
  std::string out;
  for (int t = 0; t < ticks; ++t) {
    if (t % 10 == 0) out += heading;
    for (int g = 0; g < 8; ++g) {
      out += fmt::format(
          "GPU {}     {:.3f}        1100.000   {}    {}     {}     1920   {}   0.{:03}     "
          "0.{:03}\n",
          g, 940 + (t * 7 + g * 13) % 100 + 0.37, (t + g) % 5 == 0 ? 99 : 100, 40 + t % 20,
          50 + (t + g) % 9, 201234 + t % 100, 950 + t % 50, 600 + (t + g) % 90);
    }
  }
  return out;
}

// A table of somebody's own, with columns that only --columns can name.
std::string own_table(int ticks) {
  std::string out = "time_ms,machine,slot,draw,busy,degrees\n";
  for (int t = 0; t < ticks; ++t) {
    for (int g = 0; g < 8; ++g) {
      out += fmt::format("{},node-{:04},{},{:.1f},{},{}\n", 1'780'000'000'000 + t * 1000LL + g,
                         t % 64, g, 940 + (t * 7 + g * 13) % 100 + 0.3, (t + g) % 5 == 0 ? 99 : 100,
                         50 + (t + g) % 9);
    }
  }
  return out;
}

void decode(benchmark::State& state, Dialect dialect, const std::string& text,
            const DecoderOptions& options = {}) {
  std::uint64_t rows = 0;
  for (auto _ : state) {
    CountingSink sink;
    const auto decoder = make_decoder(dialect, options);
    constexpr std::size_t kChunk = 256 * 1024;
    for (std::size_t at = 0; at < text.size(); at += kChunk) {
      decoder->feed(std::string_view(text).substr(at, kChunk), sink);
    }
    decoder->finish(sink);
    benchmark::DoNotOptimize(sink.sum);
    rows = sink.rows;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["rows"] = static_cast<double>(rows);
}

void NvsmiCsv(benchmark::State& state) {
  decode(state, Dialect::nvsmi_csv, nvsmi_csv(40'000));
}
BENCHMARK(NvsmiCsv)->Unit(benchmark::kMillisecond);

void NvsmiDmon(benchmark::State& state) {
  decode(state, Dialect::nvsmi_dmon, nvsmi_dmon(40'000));
}
BENCHMARK(NvsmiDmon)->Unit(benchmark::kMillisecond);

void DcgmiDmon(benchmark::State& state) {
  decode(state, Dialect::dcgmi_dmon, dcgmi_dmon(40'000));
}
BENCHMARK(DcgmiDmon)->Unit(benchmark::kMillisecond);

void TableCsv(benchmark::State& state) {
  const DecoderOptions columns{{{"time", "time_ms"},
                                {"host", "machine"},
                                {"index", "slot"},
                                {"power_w", "draw"},
                                {"util_gpu_percent", "busy"},
                                {"temperature_c", "degrees"}}};
  decode(state, Dialect::table_csv, own_table(40'000), columns);
}
BENCHMARK(TableCsv)->Unit(benchmark::kMillisecond);

// One iteration is one second of the fleet: 32,768 rows of three values and a verdict. Items per
// second are seconds of the fleet per second of one core.
void FleetAt1Hz(benchmark::State& state) {
  Triage triage({});
  std::vector<std::string> hosts;
  for (int h = 0; h < 4096; ++h) hosts.push_back(fmt::format("node-{:04}", h));
  std::int64_t second = 0;
  for (auto _ : state) {
    const WallTime at = wall_from_ns((1'780'000'000 + second++) * 1'000'000'000);
    for (const std::string& host : hosts) {
      for (int g = 0; g < 8; ++g) {
        const MetricReading readings[] = {
            {Metric::power_w, Reading::of(960 + static_cast<double>((second * 7 + g) % 60))},
            {Metric::util_gpu_percent, Reading::of(100)},
            {Metric::power_limit_w, Reading::of(1100)}};
        TelemetryRow row;
        row.key.host = host;
        row.key.index = g;
        row.key.name = "NVIDIA B300 SXM6 AC";
        row.readings = readings;
        triage.row(row, at, "bench", "");
      }
    }
    benchmark::DoNotOptimize(triage.report(at).findings.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(FleetAt1Hz)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
