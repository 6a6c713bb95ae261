#include "app/bench_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "app/read_row.h"
#include "base/limits.h"
#include "core/storage/proc_text.h"

namespace muster {
namespace {

using storage::arm_not_measured;
using storage::DataArm;
using storage::DataPath;

constexpr std::uint64_t kUsualBatch = 128;
// Pages left of files that were dropped, and missing of what was read: app/row_bench.cc.
constexpr double kFewPages = 0.001;

// The files of one path.
struct PathFiles {
  std::vector<std::shared_ptr<storage::ReadTarget>> files;
  storage::FileSystemHabit habit;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& file : files) sum += file->bytes();
    return sum;
  }
  // The share of the first `bytes` of all of them, in their order, that is in the page cache.
  Result<double> resident(std::uint64_t bytes) const {
    double cached = 0, all = 0;
    for (const auto& file : files) {
      const std::uint64_t part = std::min(bytes, file->bytes());
      const auto share = file->residency(part);
      if (!share) return share.error();
      cached += *share * static_cast<double>(part);
      all += static_cast<double>(part);
      bytes -= part;
    }
    return all > 0 ? cached / all : 0;
  }
};

Result<PathFiles> open_files(const std::vector<std::string>& paths, storage::Disk& disk) {
  PathFiles out;
  for (const std::string& path : paths) {
    auto file = disk.open(path);
    if (!file) return file.error();
    out.files.push_back(std::move(*file));
    out.habit = storage::habit_of(disk.look(path).file_system);
  }
  return out;
}

// Drops the files; the reason why a cold arm would not be cold, where there is one.
std::optional<std::string> why_not_cold(const PathFiles& path) {
  if (path.habit.in_memory || path.habit.own_cache) return std::string(path.habit.remark);
  double left = 1;
  for (int attempt = 0; attempt < 5 && left > kFewPages; ++attempt) {
    for (const auto& file : path.files) {
      if (Status dropped = file->drop_cache(); !dropped) return dropped.error().context;
    }
    const auto resident = path.resident(path.bytes());
    if (!resident) return resident.error().context;
    left = *resident;
  }
  if (left <= kFewPages) return {};
  return fmt::format("{:.1f} % of the files stayed in the page cache", left * 100);
}

// Everything that the measuring thread works on; it lives as long as that thread.
struct DataBench {
  BenchDataRequest request;
  PackVocabulary vocabulary;
  Files* files = nullptr;
  storage::Disk* disk = nullptr;
  Clock* clock = nullptr;
  std::atomic<std::uint64_t> ticks{0};
  std::mutex mutex;
  std::string what;
  Result<storage::DataAnswer> answer = make_error(Errc::internal, "not yet");

  void say(std::string text) {
    const std::lock_guard lock(mutex);
    what = std::move(text);
  }

  Result<ArmOutcome> run(DataPath path, std::optional<std::uint64_t> most,
                         std::uint64_t step_tokens, const blocks::PackManifest& manifest,
                         const DataReader& blocks) {
    const ArmBounds bounds{step_tokens, request.length, most, request.stop};
    if (path == DataPath::packed) return run_packed_arm(blocks, manifest, bounds, *clock, ticks);
    return run_text_arm(request.text, vocabulary, bounds, *files, *clock, ticks);
  }

  Result<storage::DataAnswer> measure();
  Status measure_path(DataPath path, const PathFiles& files_of_path,
                      const blocks::PackManifest& manifest, const DataReader& blocks,
                      storage::DataAnswer& out);
};

Status DataBench::measure_path(DataPath path, const PathFiles& files_of_path,
                               const blocks::PackManifest& manifest, const DataReader& blocks,
                               storage::DataAnswer& out) {
  say(fmt::format("{}, cold", storage::data_path_name(path)));
  const auto refusal = why_not_cold(files_of_path);
  // Cold or not, it brings into memory what the warm arm reads.
  const auto first = run(path, std::nullopt, out.step_tokens, manifest, blocks);
  if (!first) return first.error();
  out.arms.push_back(refusal ? arm_not_measured(path, true, *refusal)
                             : storage::arm_of(path, true, first->run));
  if (first->lost_records > 0) {
    out.notes.push_back(fmt::format("{} records gave no document", first->lost_records));
  }
  say(fmt::format("{}, warm", storage::data_path_name(path)));
  // Text is read from the front; blocks here and there, so that all that was read must be there.
  const std::uint64_t all = files_of_path.bytes();
  const bool text = path == DataPath::text;
  const auto resident = files_of_path.resident(text ? first->run.bytes : all);
  if (!resident) {
    out.arms.push_back(arm_not_measured(path, false, resident.error().context));
    return {};
  }
  const double expected =
      text || all == 0
          ? 1
          : std::min(1.0, static_cast<double>(first->run.bytes) / static_cast<double>(all));
  if (*resident < expected * (1 - kFewPages)) {
    out.arms.push_back(
        arm_not_measured(path, false,
                         fmt::format("only {:.1f} % of what was read stayed in the page cache",
                                     *resident / expected * 100)));
    return {};
  }
  const auto second = run(path, first->parts, out.step_tokens, manifest, blocks);
  if (!second) return second.error();
  out.arms.push_back(storage::arm_of(path, false, second->run));
  return {};
}

Result<storage::DataAnswer> DataBench::measure() {
  const std::string folder = request.pack + "/";
  const auto text =
      read_whole(*files, folder + std::string(blocks::kManifestName), limits::kDocumentBytes);
  if (!text) return text.error();
  const auto manifest = blocks::decode_manifest(*text);
  if (!manifest) return within(request.pack, manifest.error());
  const std::string blocks_path = folder + std::string(blocks::kBlocksName);
  const auto reader = DataReader::open(blocks_path);
  if (!reader) return reader.error();
  const std::uint64_t batch =
      request.global_batch.value_or(manifest->global_batch.value_or(kUsualBatch));
  if (batch == 0 || batch > manifest->blocks) {
    return make_error(Errc::invalid_input,
                      fmt::format("{}: {} blocks are fewer than one step has ({}); another: "
                                  "--global-batch",
                                  request.pack, manifest->blocks, batch));
  }
  const auto texts = open_files(request.text.paths, *disk);
  if (!texts) return texts.error();
  const auto packed = open_files({blocks_path}, *disk);
  if (!packed) return packed.error();
  storage::DataAnswer out;
  out.step_tokens = batch * manifest->block_tokens;
  out.threads = static_cast<std::uint32_t>(request.text.threads);
  out.step_seconds = request.step_seconds;
  out.text_bytes = static_cast<double>(texts->bytes());
  out.packed_bytes = static_cast<double>(packed->bytes());
  if (const auto available = disk->look(request.pack).available_bytes) {
    out.cache_bytes = static_cast<double>(*available);
  }
  for (const auto& [path, of_path] :
       {std::pair(DataPath::text, &*texts), std::pair(DataPath::packed, &*packed)}) {
    if (Status done = measure_path(path, *of_path, *manifest, *reader, out); !done) {
      return done.error();
    }
  }
  return out;
}

}  // namespace

Result<storage::DataAnswer> bench_data(const BenchDataRequest& request,
                                       const PackVocabulary& vocabulary, Files& files,
                                       storage::Disk& disk, Clock& clock) {
  const auto bench = std::make_shared<DataBench>();
  bench->request = request;
  bench->vocabulary = vocabulary;
  bench->files = &files;
  bench->disk = &disk;
  bench->clock = &clock;
  const RowWatch watch{request.stop, request.patience, [&](std::uint64_t parts) {
                         const std::lock_guard lock(bench->mutex);
                         if (request.progress) request.progress(bench->what, parts);
                       }};
  const Status ended = finish_in_time([bench] { bench->answer = bench->measure(); },
                                      [bench] { return bench->ticks.load(); }, clock, watch);
  if (!ended) return ended.error();
  return std::move(bench->answer);
}

}  // namespace muster
