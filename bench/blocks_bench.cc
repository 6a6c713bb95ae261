// Ids to blocks: what a pack costs once its text is tokens. Bytes are those of the ids.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "core/blocks/best_fit.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/block_order.h"
#include "core/blocks/block_scan.h"
#include "core/blocks/concat_packer.h"
#include "core/blocks/step_proof.h"

namespace {

using namespace muster::blocks;

constexpr std::uint32_t kLength = 2048;

// Lengths of the records of the run that hung: about half a block.
std::vector<std::uint64_t> lengths(std::size_t count) {
  std::mt19937_64 random(1009);
  std::normal_distribution<double> length(1009, 75);
  std::vector<std::uint64_t> out(count);
  for (auto& l : out) l = static_cast<std::uint64_t>(std::max(1.0, length(random)));
  return out;
}

TokenRun run_of(std::size_t documents) {
  TokenRun run;
  std::mt19937 random(3);
  for (const std::uint64_t length : lengths(documents)) {
    for (std::uint64_t i = 0; i < length; ++i) {
      run.ids.push_back(static_cast<std::int32_t>(random() % 151'643));
    }
    run.ends.push_back(run.ids.size());
    run.trained.append(length / 3, false);
    run.trained.append(length - length / 3, true);
  }
  return run;
}

// Hashes each block, as whoever writes a pack does, and keeps the ids.
class Kept final : public BlockSink {
 public:
  explicit Kept(std::size_t room) : ids_(room) {}
  muster::Status blocks(std::uint64_t, std::span<const std::int32_t> ids,
                        std::span<const std::uint8_t> loss) override {
    for (std::size_t at = 0; at < ids.size(); at += kLength) {
      hash_ ^= hash_block(ids.subspan(at, kLength));
    }
    at_ = at_ + ids.size() > ids_.size() ? 0 : at_;
    std::copy(ids.begin(), ids.end(), ids_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += ids.size();
    hash_ ^= loss.size();
    return {};
  }
  muster::Status ends(std::span<const std::uint64_t> ends) override {
    hash_ ^= ends.back();
    return {};
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::vector<std::int32_t> ids_;
  std::size_t at_ = 0;
  std::uint64_t hash_ = 0;
};

void BM_Repack(benchmark::State& state) {
  const TokenRun run = run_of(4000);  // 16 MB: beyond the caches of a core
  Kept kept(run.ids.size() + kLength);
  ConcatPacker packer(kLength, kept);
  for (auto _ : state) {
    if (!packer.add(run)) state.SkipWithError("refused");
  }
  benchmark::DoNotOptimize(kept.hash());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(run.ids.size() * 4));
}
BENCHMARK(BM_Repack)->Unit(benchmark::kMillisecond);

void BM_Scan(benchmark::State& state) {
  const TokenRun run = run_of(4000);
  PackManifest manifest;
  manifest.blocks = run.ids.size() / kLength;
  manifest.eos = 1;
  manifest.vocabulary_count = 151'669;
  const auto ids = std::span(run.ids).first(manifest.blocks * kLength);
  const auto loss = run.trained.bytes().first(ids.size() / 8);
  for (auto _ : state) {
    BlockCounts counts;
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < ids.size(); at += kLength) {
      hash ^= hash_block(ids.subspan(at, kLength));
    }
    if (!scan_blocks(manifest, 0, ids, loss, run.ends, counts)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(hash + counts.eos_inside);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(ids.size_bytes()));
}
BENCHMARK(BM_Scan)->Unit(benchmark::kMillisecond);

void BM_BestFitMillion(benchmark::State& state) {
  const auto records = lengths(1'000'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan_best_fit(records, kLength, false).blocks);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records.size()));
}
BENCHMARK(BM_BestFitMillion)->Unit(benchmark::kMillisecond);

void BM_Order(benchmark::State& state) {
  const BlockOrder order(493'300, 7, 0);
  std::uint64_t position = 0, sum = 0;
  for (auto _ : state) {
    sum += order.at(position);
    position = position + 1 == order.blocks() ? 0 : position + 1;
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_Order);

// Every step of an epoch of a million records, for all world sizes that divide a batch of 128.
void BM_ProveMillion(benchmark::State& state) {
  std::uint64_t tokens = 0;
  for (const std::uint64_t length : lengths(1'000'000)) tokens += length;
  const StepShape shape{tokens / kLength, 128, 1, 1};
  for (auto _ : state) {
    const auto proof = prove_steps(shape, 7, 0, "0123456789abcdef0123456789abcdef");
    if (!proof) state.SkipWithError("refused");
  }
}
BENCHMARK(BM_ProveMillion)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
