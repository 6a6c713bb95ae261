#include "train/ckpt/checkpoint_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "core/blocks/block_hash.h"
#include "train/ckpt/open_store.h"
#include "train/ckpt/retention.h"
#include "train/ckpt/save_job.h"
#include "train/ckpt/state_reader.h"
#include "train/ckpt/weights_reader.h"

namespace muster::train {
namespace {

using checkpoint::CheckpointManifest;
using checkpoint::ManifestFile;

constexpr std::uint64_t kChunkBytes = 4 * 1024 * 1024;

Status verify_file(SaveDisk& disk, const std::string& folder, const ManifestFile& wanted) {
  const std::string path = folder + "/" + wanted.name;
  auto file = disk.open(path);
  if (!file) return file.error();
  if ((*file)->bytes() != wanted.bytes) {
    return make_error(Errc::corrupt, fmt::format("{} has {} bytes, {} by the manifest", wanted.name,
                                                 (*file)->bytes(), wanted.bytes));
  }
  blocks::RunningHash hash;
  std::string chunk;
  for (std::uint64_t at = 0; at < wanted.bytes; at += chunk.size()) {
    chunk.resize(std::min(kChunkBytes, wanted.bytes - at));
    if (Status read = (*file)->read_at(at, chunk); !read) return read;
    hash.add(chunk);
  }
  if (blocks::hash_text(hash.value()) == wanted.hash) return {};
  return make_error(Errc::corrupt, wanted.name + " was changed since it was written");
}

class Store final : public CheckpointStore {
 public:
  Store(CheckpointOptions options, std::unique_ptr<Communicator> comm, SaveDisk& disk)
      : options_(std::move(options)), comm_(std::move(comm)), disk_(disk) {}
  ~Store() override { join(); }

  // All ranks see the folder as rank 0 leaves it.
  Status begin() {
    Status ready;
    if (first()) ready = disk_.make_folder(options_.folder);
    if (first() && ready) ready = remove_leftovers(disk_, options_.folder);
    if (first() && ready) {
      // Now: they may be changed, or gone, by the time of a save.
      auto files = read_model_files(disk_, options_);
      if (files) model_files_ = std::move(*files);
      if (!files) ready = files.error();
    }
    return agree(*comm_, ready);
  }

  Status save(const ShardedState& state, const RunCursor& cursor) override {
    MUSTER_CHECK(state.shards == static_cast<std::uint64_t>(comm_->world()) &&
                     state.shard == static_cast<std::uint64_t>(comm_->rank()),
                 "rank r of the store holds shard r");
    join();
    Status ready = first() ? check_room(state) : Status();
    std::optional<Snapshot> snapshot;
    if (ready) ready = copy_into(snapshot, state);
    if (Status all = agree(*comm_, ready); !all) return all;
    const Status before = std::exchange(last_, {});
    unsound_.erase(cursor.step);  // it is moved aside
    SaveJob job{options_, cursor, std::move(*snapshot), model_files_, unsound_};
    saving_ = true;
    thread_ = std::jthread([this, work = std::move(job)] {
      last_ = within_step(work.cursor.step, write_checkpoint(disk_, *comm_, work, warnings_));
      saving_ = false;
    });
    return before;
  }

  Status finish() override {
    join();
    return last_;
  }
  bool saving() const override { return saving_; }

  Result<std::optional<std::string>> newest() override;
  Result<bool> has_steps() override;
  Result<LoadedRun> load(const std::string& checkpoint, ShardedState& state) override;
  std::vector<std::string> take_warnings() override { return std::exchange(warnings_, {}); }

 private:
  bool first() const { return comm_->rank() == 0; }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  static Status within_step(std::uint64_t step, Status status) {
    if (status) return status;
    return within(fmt::format("saving step {}", step), status.error());
  }
  Status copy_into(std::optional<Snapshot>& snapshot, const ShardedState& state) const {
    auto taken = Snapshot::of(state, options_.exact);
    if (!taken) return taken.error();
    snapshot = std::move(*taken);
    return {};
  }
  Status check_room(const ShardedState& state) const;
  Result<std::string> said_by_first(const std::string& text);
  Result<std::vector<std::uint64_t>> steps_seen_by_first();
  Result<CheckpointManifest> same_manifest(const std::string& path);
  Status verify(const std::string& path, const CheckpointManifest& manifest);

  CheckpointOptions options_;
  std::unique_ptr<Communicator> comm_;
  SaveDisk& disk_;
  std::vector<ModelFile> model_files_;  // of rank 0
  std::jthread thread_;
  std::atomic<bool> saving_{false};
  Status last_;                        // of the last save; the thread's until join()
  std::vector<std::string> warnings_;  // likewise
  std::set<std::uint64_t> unsound_;    // steps that newest() passed over; of rank 0
  std::string verified_;               // the checkpoint whose bytes newest() has read
};

Status Store::check_room(const ShardedState& state) const {
  const auto room = disk_.room(options_.folder);
  if (!room) return room.error();
  const std::uint64_t needed = checkpoint_bytes(*state.plan, state.dtype, state.shards, options_);
  if (*room >= needed) return {};
  return make_error(Errc::exhausted,
                    fmt::format("{}: a checkpoint takes {} bytes, and {} are free; make room, or "
                                "keep fewer",
                                options_.folder, needed, *room));
}

Result<std::string> Store::said_by_first(const std::string& text) {
  const auto texts = comm_->gather_texts(first() ? text : "", {Purpose::save});
  if (!texts) return texts.error();
  return texts->front();
}

// Read by every rank, and the same for all.
Result<CheckpointManifest> Store::same_manifest(const std::string& path) {
  auto manifest = read_manifest(disk_, path);
  const std::string hash =
      manifest ? blocks::hash_text(blocks::hash_bytes(encode_checkpoint_manifest(*manifest))) : "";
  const auto expected = said_by_first(hash);
  if (!expected) return expected.error();
  Status mine = manifest ? Status() : Status(manifest.error());
  if (mine && hash != *expected) {
    mine = make_error(Errc::corrupt, path + ": this rank sees another manifest than rank 0");
  }
  if (Status all = agree(*comm_, mine); !all) return all.error();
  return std::move(*manifest);
}

// Each rank reads its share of the files.
Status Store::verify(const std::string& path, const CheckpointManifest& manifest) {
  Status mine;
  const auto world = static_cast<std::size_t>(comm_->world());
  for (std::size_t i = static_cast<std::size_t>(comm_->rank()); i < manifest.files.size();
       i += world) {
    if (mine) mine = verify_file(disk_, path, manifest.files[i]);
  }
  return agree(*comm_, mine);
}

// Empty on all other ranks.
Result<std::vector<std::uint64_t>> Store::steps_seen_by_first() {
  std::vector<std::uint64_t> steps;
  Status listed;
  if (first()) {
    auto found = saved_steps(disk_, options_.folder);
    if (found) steps = std::move(*found);
    if (!found) listed = found.error();
  }
  if (Status all = agree(*comm_, listed); !all) return all.error();
  return steps;
}

Result<bool> Store::has_steps() {
  join();
  const auto steps = steps_seen_by_first();
  if (!steps) return steps.error();
  const auto said = said_by_first(steps->empty() ? "" : "some");
  if (!said) return said.error();
  return !said->empty();
}

Result<std::optional<std::string>> Store::newest() {
  join();
  const auto steps = steps_seen_by_first();
  if (!steps) return steps.error();
  for (std::size_t i = 0;; ++i) {
    const std::string next = i < steps->size() ? step_folder((*steps)[i]) : "";
    const auto name = said_by_first(next);
    if (!name) return name.error();
    if (name->empty()) return std::optional<std::string>();
    const std::string path = options_.folder + "/" + *name;
    auto manifest = same_manifest(path);
    Status sound = manifest ? verify(path, *manifest) : Status(manifest.error());
    if (sound) {
      verified_ = path;
      return std::optional(path);
    }
    // A rank that is gone is no fault of the checkpoint.
    if (comm_->failure()) return sound.error();
    if (first()) unsound_.insert((*steps)[i]);
    warnings_.push_back(fmt::format("{} is passed over: {}", path, sound.error().context));
  }
}

Result<LoadedRun> Store::load(const std::string& path, ShardedState& state) {
  join();
  auto manifest = same_manifest(path);
  if (!manifest) return manifest.error();
  if (manifest->plan_digest != state.plan->digest()) {
    return make_error(Errc::invalid_input, path + ": of another model");
  }
  if (path != verified_) {
    if (Status sound = verify(path, *manifest); !sound) return sound.error();
  }
  const Status mine = manifest->exact ? load_exact_state(disk_, path, manifest->world, state)
                                      : load_weights_from(disk_, path, state);
  if (Status all = agree(*comm_, mine); !all) return all.error();
  if (!manifest->exact) {
    for (UnitShard& unit : state.units) {
      std::memset(unit.first_moment.data(), 0, unit.first_moment.size());
      std::memset(unit.second_moment.data(), 0, unit.second_moment.size());
    }
  }
  const RunCursor cursor{manifest->step, manifest->tokens, manifest->seed, manifest->pack_digest,
                         manifest->skipped};
  return LoadedRun{cursor, manifest->exact};
}

}  // namespace

Result<std::unique_ptr<CheckpointStore>> open_store(CheckpointOptions options,
                                                    std::unique_ptr<Communicator> comm,
                                                    SaveDisk& disk) {
  auto store = std::make_unique<Store>(std::move(options), std::move(comm), disk);
  if (Status ready = store->begin(); !ready) return ready.error();
  return std::unique_ptr<CheckpointStore>(std::move(store));
}

Result<std::unique_ptr<CheckpointStore>> CheckpointStore::open(CheckpointOptions options,
                                                               std::unique_ptr<Communicator> comm) {
  return open_store(std::move(options), std::move(comm), real_save_disk());
}

}  // namespace muster::train
