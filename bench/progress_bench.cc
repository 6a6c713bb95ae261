// How fast a trainer's log is read. Reported in bytes a second of log text.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "core/progress/progress_decoder.h"

namespace {

constexpr std::size_t kBytes = 16 * 1024 * 1024;
constexpr std::size_t kChunk = 64 * 1024;

template <typename Line>
std::string log_of(Line line) {
  std::string log;
  for (int i = 0; log.size() < kBytes; ++i) log += line(i);
  return log;
}

class Counter : public muster::ProgressSink {
 public:
  void step(const muster::StepRecord&) override { ++records; }
  void event(const muster::ProgressEvent&) override { ++records; }
  std::uint64_t records = 0;
};

void read_log(benchmark::State& state, const std::string& log) {
  for (auto _ : state) {
    Counter sink;
    muster::ProgressDecoder decoder;
    for (std::size_t at = 0; at < log.size(); at += kChunk) {
      decoder.feed(std::string_view(log).substr(at, kChunk), sink);
    }
    decoder.finish(sink);
    benchmark::DoNotOptimize(sink);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.size()));
}

std::string plain_steps() {
  return log_of([](int i) {
    return fmt::format("[{:02}:{:02}:{:02}] step {}/400000 loss 0.703 tok/s 53012\n", i / 3600 % 24,
                       i / 60 % 60, i % 60, i);
  });
}

// Step lines only: the densest log there is.
void BM_PlainSteps(benchmark::State& state) {
  read_log(state, plain_steps());
}
BENCHMARK(BM_PlainSteps);

// A run's log: one step line among ten of other talk.
void BM_MixedLog(benchmark::State& state) {
  read_log(state, log_of([](int i) {
             if (i % 10 == 0) return fmt::format("step {}/400000 loss 0.703 tok/s 53012\n", i);
             return fmt::format(
                 "2026-08-01 10:00:00,000 - loader - DEBUG - worker {} read shard {} of the "
                 "training set from /data/tokens/part-{:05}.bin in the background\n",
                 i % 8, i, i % 1000);
           }));
}
BENCHMARK(BM_MixedLog);

void BM_Megatron(benchmark::State& state) {
  read_log(state, log_of([](int i) {
             return fmt::format(
                 " [2026-08-01 10:00:00] iteration {:8}/  400000 | consumed samples: {:12} | "
                 "elapsed time per iteration (ms): 4950.0 | throughput per GPU (TFLOP/s/GPU): "
                 "690.1 | learning rate: 9.1E-06 | global batch size:   128 | lm loss: "
                 "1.842100E+00 | loss scale: 1.0 | grad norm: 0.910 | number of skipped "
                 "iterations:   0 | number of nan iterations:   0 |\n",
                 i, i * 128);
           }));
}
BENCHMARK(BM_Megatron);

void BM_Bars(benchmark::State& state) {
  read_log(state, log_of([](int i) {
             return fmt::format("\r {:3}%|█▏        | {}/4000000 [39:36<4:50:24,  4.95s/it]",
                                i / 40000, i);
           }));
}
BENCHMARK(BM_Bars);

// The Hugging Face trainer: a dictionary behind the bar that names its step.
void BM_Dictionaries(benchmark::State& state) {
  read_log(state, log_of([](int i) {
             return fmt::format(
                 "\r {:3}%|█▏        | {}/4000000 [39:36<4:50:24,  4.95s/it]\n"
                 "{{'loss': 1.8421, 'grad_norm': 0.91, 'learning_rate': 9.1e-06, 'epoch': 0.12}}\n",
                 i / 40000, i);
           }));
}
BENCHMARK(BM_Dictionaries);

void BM_JsonLines(benchmark::State& state) {
  read_log(state, log_of([](int i) {
             return fmt::format(
                 "{{\"step\": {}, \"target_step\": 400000, \"wall_ms\": {}, \"loss\": 1.8421, "
                 "\"grad_norm\": 0.91, \"tokens_per_s\": 53012.5, \"step_s\": 4.95}}\n",
                 i, 1'780'000'000'000 + i * 4950LL);
           }));
}
BENCHMARK(BM_JsonLines);

void BM_MlperfRows(benchmark::State& state) {
  read_log(state, log_of([](int i) {
             return fmt::format(
                 "{},tracked_stats,{},train_step_timing=4.95,reduced_train_loss=1.8421\n",
                 1'780'000'000'000 + i * 4950LL, i);
           }));
}
BENCHMARK(BM_MlperfRows);

}  // namespace

BENCHMARK_MAIN();
