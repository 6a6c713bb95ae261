#include "app/data_arms.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "app/pack_chunk.h"
#include "app/pack_reader.h"
#include "core/blocks/block_order.h"

namespace muster {
namespace {

// Small, so that the steps of a few MiB come one by one and all threads have work.
constexpr std::size_t kChunkBytes = 256 * 1024;

// What the threads of a text arm share.
class TextRun {
 public:
  TextRun(const TextArm& arm, const ArmBounds& bounds, Files& files, Clock& clock,
          std::atomic<std::uint64_t>& ticks)
      : bounds_(bounds),
        clock_(clock),
        ticks_(ticks),
        reader_(files, arm.paths,
                {.split = arm.split, .field = arm.field, .chunk_bytes = kChunkBytes}, bounds.stop),
        start_(clock.mono()) {}

  // Nothing where the arm is over.
  std::optional<PackChunk> take() {
    const std::lock_guard lock(reading_);
    const bool enough = bounds_.most && outcome_.parts >= *bounds_.most;
    if (fault_ || enough || clock_.mono() - start_ >= bounds_.length) return std::nullopt;
    auto chunk = reader_.next();
    if (!chunk) {
      fault_ = chunk.error();
      return std::nullopt;
    }
    if (*chunk) ++outcome_.parts;
    return std::move(*chunk);
  }

  void add(const PackedChunk& chunk) {
    const std::lock_guard lock(counting_);
    storage::ArmRun& run = outcome_.run;
    run.tokens += chunk.run.ids.size();
    run.bytes = std::max(run.bytes, chunk.file_bytes);
    run.seconds = duration_to_seconds(clock_.mono() - start_);
    while (run.tokens >= (run.step_ends_s.size() + 1) * bounds_.step_tokens) {
      run.step_ends_s.push_back(run.seconds);
    }
    for (const PackFault& fault : chunk.faults) {
      outcome_.lost_records += records::loses_record(fault.fault) ? 1 : 0;
    }
    ticks_.fetch_add(1, std::memory_order_relaxed);
  }

  Result<ArmOutcome> end() {
    if (fault_) return *fault_;
    return std::move(outcome_);
  }

 private:
  const ArmBounds& bounds_;
  Clock& clock_;
  std::atomic<std::uint64_t>& ticks_;
  std::mutex reading_, counting_;
  PackReader reader_;
  MonoTime start_;
  std::optional<Error> fault_;
  ArmOutcome outcome_;
};

}  // namespace

Result<ArmOutcome> run_text_arm(const TextArm& arm, const PackVocabulary& vocabulary,
                                const ArmBounds& bounds, Files& files, Clock& clock,
                                std::atomic<std::uint64_t>& ticks) {
  records::JsonlOptions options;
  options.field = arm.field;
  options.chat = vocabulary.chat ? &*vocabulary.chat : nullptr;
  options.why_no_chat = vocabulary.why_no_chat;
  // Made before the time begins: a trainer has its tokenizer loaded.
  std::vector<std::unique_ptr<ChunkWorker>> workers;
  for (std::size_t i = 0; i < arm.threads; ++i) {
    workers.push_back(std::make_unique<ChunkWorker>(
        options, arm.split,
        PackEncoder(vocabulary.make_encoder(), vocabulary.eos, PackSpecials::usual)));
  }
  TextRun run(arm, bounds, files, clock, ticks);
  {
    std::vector<std::jthread> threads;
    for (const auto& worker : workers) {
      threads.emplace_back([&run, &worker] {
        while (auto chunk = run.take()) run.add(worker->work(std::move(*chunk), true));
      });
    }
  }
  return run.end();
}

Result<ArmOutcome> run_packed_arm(const DataReader& blocks, const blocks::PackManifest& manifest,
                                  const ArmBounds& bounds, Clock& clock,
                                  std::atomic<std::uint64_t>& ticks) {
  const std::uint64_t block_bytes = manifest.block_tokens * sizeof(std::int32_t);
  const std::uint64_t batch = bounds.step_tokens / manifest.block_tokens;
  const std::uint64_t steps = std::min(bounds.most.value_or(UINT64_MAX), manifest.blocks / batch);
  const blocks::BlockOrder order(manifest.blocks, 0, 0);
  std::vector<char> buffer(block_bytes);
  ArmOutcome out;
  const MonoTime start = clock.mono();
  for (; out.parts < steps && clock.mono() - start < bounds.length; ++out.parts) {
    for (std::uint64_t i = 0; i < batch; ++i) {
      if (bounds.stop.stop_requested()) return make_error(Errc::unavailable, "stopped");
      const std::uint64_t offset = order.at(out.parts * batch + i) * block_bytes;
      if (Status read = blocks.read_at(offset, buffer); !read) return read.error();
    }
    out.run.tokens += bounds.step_tokens;
    out.run.bytes += batch * block_bytes;
    out.run.seconds = duration_to_seconds(clock.mono() - start);
    out.run.step_ends_s.push_back(out.run.seconds);
    ticks.fetch_add(1, std::memory_order_relaxed);
  }
  return out;
}

}  // namespace muster
