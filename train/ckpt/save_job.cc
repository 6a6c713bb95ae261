#include "train/ckpt/save_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "core/blocks/block_hash.h"
#include "core/checkpoint/checkpoint_manifest.h"
#include "train/ckpt/retention.h"
#include "train/ckpt/save_layout.h"

namespace muster::train {
namespace {

using checkpoint::CheckpointManifest;
using checkpoint::ManifestFile;

constexpr std::uint64_t kBf16Bytes = 2;
// What a model's folder has beside its weights, where it has it.
constexpr std::string_view kCopied[] = {"config.json",
                                        "generation_config.json",
                                        "tokenizer.json",
                                        "tokenizer_config.json",
                                        "vocab.json",
                                        "merges.txt",
                                        "special_tokens_map.json",
                                        "added_tokens.json",
                                        "chat_template.jinja",
                                        "tokenizer.model"};

std::string_view chars(const std::byte* bytes, std::uint64_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

// A file whose size and hash are known when it is closed.
class HashedFile {
 public:
  static Result<HashedFile> create(SaveDisk& disk, const std::string& folder, std::string name) {
    auto file = disk.create(folder + "/" + name);
    if (!file) return file.error();
    HashedFile out;
    out.file_ = std::move(*file);
    out.entry_.name = std::move(name);
    return out;
  }
  Status append(std::string_view bytes) {
    hash_->add(bytes);
    entry_.bytes += bytes.size();
    return file_->append(bytes);
  }
  Result<ManifestFile> close() {
    if (Status kept = file_->sync(); !kept) return kept.error();
    entry_.hash = blocks::hash_text(hash_->value());
    return entry_;
  }

 private:
  std::unique_ptr<SaveFile> file_;
  std::unique_ptr<blocks::RunningHash> hash_ = std::make_unique<blocks::RunningHash>();
  ManifestFile entry_;
};

Result<ManifestFile> write_small(SaveDisk& disk, const std::string& folder, const std::string& name,
                                 std::string_view bytes) {
  auto file = HashedFile::create(disk, folder, name);
  if (!file) return file.error();
  if (Status written = file->append(bytes); !written) return written.error();
  return file->close();
}

class Writer {
 public:
  Writer(SaveDisk& disk, Communicator& comm, const SaveJob& job)
      : disk_(disk),
        comm_(comm),
        job_(job),
        snapshot_(job.snapshot),
        folder_(job.options.folder + "/" + saving_folder(job.cursor.step)) {}

  Status write(std::vector<std::string>& warnings) {
    if (Status made = agree(comm_, first() ? make_folder() : Status()); !made) return made;
    if (Status moved = weights(); !moved) return moved;
    if (job_.options.exact && mine_) mine_ = exact();
    auto files = gather_files();
    if (!files) return files.error();
    Status done = agree(comm_, mine_);
    if (done) done = agree(comm_, first() ? commit(std::move(*files), warnings) : Status());
    if (!done && first()) (void)disk_.remove(folder_);
    return done;
  }

 private:
  bool first() const { return comm_.rank() == 0; }
  Status make_folder();
  Status weights();
  Status weights_part(const WeightsFile& file, std::size_t unit, const std::byte* full);
  Status exact();
  Result<std::vector<ManifestFile>> gather_files();
  Status commit(std::vector<ManifestFile> files, std::vector<std::string>& warnings);
  Status move_to_its_name();
  Status take_the_name(const std::string& name);

  SaveDisk& disk_;
  Communicator& comm_;
  const SaveJob& job_;
  const Snapshot& snapshot_;
  std::string folder_;
  std::vector<WeightsFile> layout_;
  std::optional<HashedFile> open_;     // the file of weights that this rank is writing
  std::vector<ManifestFile> written_;  // by this rank
  Status mine_;                        // the first failure of this rank: it goes on gathering
};

Status Writer::make_folder() {
  if (Status gone = disk_.remove(folder_); !gone) return gone;
  return disk_.make_folder(job_.options.exact ? folder_ + "/state" : folder_);
}

// Fails where the ranks lost one another; what the disk refuses is kept until all have gathered.
Status Writer::weights() {
  layout_ = weights_files(snapshot_.plan(), job_.options.file_bytes);
  for (std::size_t k = 0; k < layout_.size(); ++k) {
    const WeightsFile& file = layout_[k];
    const bool owner =
        static_cast<std::size_t>(comm_.rank()) == k % static_cast<std::size_t>(comm_.world());
    for (std::size_t unit = file.first_unit; unit < file.first_unit + file.units; ++unit) {
      snapshot_.to_bf16_slice(unit);
      const std::uint64_t bytes = snapshot_.plan().slice(unit, snapshot_.shards()) * kBf16Bytes;
      const Ticket ticket = comm_.all_gather(snapshot_.own(), snapshot_.gathered(), bytes,
                                             {Purpose::save, static_cast<std::uint32_t>(unit)});
      if (Status gathered = comm_.wait(ticket); !gathered) return gathered;
      if (owner && mine_) mine_ = weights_part(file, unit, snapshot_.gathered());
    }
  }
  return {};
}

Status Writer::weights_part(const WeightsFile& file, std::size_t unit, const std::byte* full) {
  if (unit == file.first_unit) {
    auto created = HashedFile::create(disk_, folder_, file.name);
    if (!created) return created.error();
    open_ = std::move(*created);
    if (Status written = open_->append(file.head); !written) return written;
  }
  const std::uint64_t bytes = snapshot_.plan().units()[unit].elements * kBf16Bytes;
  if (Status written = open_->append(chars(full, bytes)); !written) return written;
  if (unit + 1 < file.first_unit + file.units) return {};
  auto closed = open_->close();
  open_.reset();
  if (!closed) return closed.error();
  written_.push_back(std::move(*closed));
  return {};
}

Status Writer::exact() {
  const StateFile layout =
      state_file(snapshot_.plan(), snapshot_.dtype(), snapshot_.shard(), snapshot_.shards());
  auto file = HashedFile::create(disk_, folder_, layout.name);
  if (!file) return file.error();
  if (Status written = file->append(layout.head); !written) return written;
  for (std::size_t unit = 0; unit < snapshot_.plan().units().size(); ++unit) {
    if (Status written = file->append(snapshot_.state_of(unit)); !written) return written;
  }
  auto closed = file->close();
  if (!closed) return closed.error();
  written_.push_back(std::move(*closed));
  return {};
}

Result<std::vector<ManifestFile>> Writer::gather_files() {
  std::string text;
  for (const ManifestFile& file : written_) {
    text += fmt::format("{} {} {}\n", file.name, file.bytes, file.hash);
  }
  const auto texts = comm_.gather_texts(text, {Purpose::save});
  if (!texts) return texts.error();
  std::vector<ManifestFile> out;
  for (const std::string& all : *texts) {
    for (const std::string_view line : split(all, '\n')) {
      const auto words = split(line, ' ');
      if (words.size() != 3) continue;
      out.push_back(
          {std::string(words[0]), parse_uint(words[1]).value_or(0), std::string(words[2])});
    }
  }
  return out;
}

Status Writer::commit(std::vector<ManifestFile> files, std::vector<std::string>& warnings) {
  if (const std::string index = weights_index(snapshot_.plan(), layout_); !index.empty()) {
    auto written = write_small(disk_, folder_, "model.safetensors.index.json", index);
    if (!written) return written.error();
    files.push_back(std::move(*written));
  }
  for (const ModelFile& file : job_.model_files) {
    auto written = write_small(disk_, folder_, file.name, file.bytes);
    if (!written) return written.error();
    files.push_back(std::move(*written));
  }
  std::sort(files.begin(), files.end(),
            [](const ManifestFile& a, const ManifestFile& b) { return a.name < b.name; });
  CheckpointManifest manifest;
  manifest.step = job_.cursor.step;
  manifest.tokens = job_.cursor.tokens;
  manifest.seed = job_.cursor.seed;
  manifest.pack_digest = job_.cursor.pack_digest;
  manifest.skipped = job_.cursor.skipped;
  manifest.plan_digest = snapshot_.plan().digest();
  manifest.world = snapshot_.shards();
  manifest.exact = job_.options.exact;
  manifest.files = std::move(files);
  // The last: whoever finds it finds all that it names.
  const auto written = write_small(disk_, folder_, std::string(checkpoint::kManifestName),
                                   checkpoint::encode_checkpoint_manifest(manifest));
  if (!written) return written.error();
  if (job_.options.exact) {
    if (Status kept = disk_.sync_folder(folder_ + "/state"); !kept) return kept;
  }
  if (Status kept = disk_.sync_folder(folder_); !kept) return kept;
  if (Status moved = move_to_its_name(); !moved) return moved;
  after_commit(disk_, job_.options, job_.cursor.step, job_.unsound, warnings);
  return {};
}

// A checkpoint of this step from an attempt before, which may be a suspect, is moved aside and
// stays. It keeps its name until this one takes it: who is killed here leaves one or the other.
Status Writer::move_to_its_name() {
  const std::string name = job_.options.folder + "/" + step_folder(job_.cursor.step);
  Status moved = disk_.has(name) ? take_the_name(name) : disk_.rename(folder_, name);
  if (!moved) return moved;
  return disk_.sync_folder(job_.options.folder);
}

Status Writer::take_the_name(const std::string& name) {
  std::string aside;
  for (int i = 1; aside.empty() || disk_.has(aside); ++i) aside = before_folder(name, i);
  if (Status moved = disk_.rename(folder_, aside); !moved) return moved;
  Status taken = disk_.exchange(aside, name);
  if (taken) return taken;
  if (Status back = disk_.rename(aside, folder_); !back) {
    (void)disk_.remove(aside);  // it is no older one
    return back;
  }
  if (taken.error().code != Errc::unsupported) return taken;
  // In two steps, which open() completes when this is killed between them.
  if (Status moved = disk_.rename(name, aside); !moved) return moved;
  taken = disk_.rename(folder_, name);
  if (!taken) (void)disk_.rename(aside, name);
  return taken;
}

}  // namespace

Snapshot::Snapshot(const ShardedState& state, bool exact)
    : plan_(*state.plan),
      dtype_(state.dtype),
      shard_(state.shard),
      shards_(state.shards),
      exact_(exact) {
  const std::uint64_t wide = exact ? std::size(kStateParts) * dtype_bytes(dtype_) : kBf16Bytes;
  for (std::size_t unit = 0; unit < plan_.units().size(); ++unit) {
    unit_at_.push_back(bytes_);
    bytes_ += plan_.slice(unit, shards_) * wide;
  }
  const std::uint64_t largest = plan_.largest_unit(shards_);
  own_at_ = bytes_;
  gathered_at_ = own_at_ + largest / shards_ * kBf16Bytes;
  bytes_ = gathered_at_ + largest * kBf16Bytes;
}

Result<Snapshot> Snapshot::of(const ShardedState& state, bool exact) {
  Snapshot out(state, exact);
  out.memory_.reset(new (std::nothrow) std::byte[out.bytes_]);
  if (!out.memory_) {
    return make_error(Errc::exhausted,
                      fmt::format("a save holds {} bytes more while it is written, and there is no "
                                  "memory for them",
                                  out.bytes_));
  }
  out.copy(state);
  return out;
}

void Snapshot::copy(const ShardedState& state) {
  for (std::size_t unit = 0; unit < state.units.size(); ++unit) {
    const UnitShard& from = state.units[unit];
    std::byte* to = memory_.get() + unit_at_[unit];
    if (!exact_) {
      round_to_bf16(dtype_, from.master.data(), to, plan_.slice(unit, shards_));
      continue;
    }
    for (const AlignedBytes* part : {&from.master, &from.first_moment, &from.second_moment}) {
      if (part->size() > 0) std::memcpy(to, part->data(), part->size());
      to += part->size();
    }
  }
}

std::string_view Snapshot::state_of(std::size_t unit) const {
  const std::uint64_t end = unit + 1 < unit_at_.size() ? unit_at_[unit + 1] : own_at_;
  return chars(memory_.get() + unit_at_[unit], end - unit_at_[unit]);
}

void Snapshot::to_bf16_slice(std::size_t unit) const {
  const std::uint64_t count = plan_.slice(unit, shards_);
  const std::byte* from = memory_.get() + unit_at_[unit];
  if (exact_) {
    round_to_bf16(dtype_, from, own(), count);
  } else {
    std::memcpy(own(), from, count * kBf16Bytes);
  }
}

std::uint64_t checkpoint_bytes(const UnitPlan& plan, Dtype dtype, std::uint64_t shards,
                               const CheckpointOptions& options) {
  // Tokenizer, configuration and manifest, and what a file system needs for names and places.
  constexpr std::uint64_t kBeside = 64 * 1024 * 1024;
  std::uint64_t weights = 0, exact = 0;
  for (const WeightsFile& file : weights_files(plan, options.file_bytes)) weights += file.bytes;
  if (options.exact) exact = state_file(plan, dtype, 0, shards).bytes * shards;
  return weights + exact + (weights + exact) / 100 + std::min(kBeside, weights + exact);
}

Result<std::vector<ModelFile>> read_model_files(SaveDisk& disk, const CheckpointOptions& options) {
  std::vector<ModelFile> out;
  bool configured = false;
  for (const std::string_view name : kCopied) {
    const std::string path = options.model_folder + "/" + std::string(name);
    if (options.model_folder.empty() || !disk.has(path)) continue;
    auto bytes = read_small(disk, path, limits::kTokenizerBytes);
    if (!bytes) return bytes.error();
    out.push_back({std::string(name), std::move(*bytes)});
    configured = configured || name == "config.json";
  }
  if (!configured && !options.config_json.empty()) {
    out.push_back({"config.json", options.config_json});
  }
  return out;
}

std::string step_folder(std::uint64_t step) {
  return fmt::format("step-{}", step);
}
std::string before_folder(const std::string& folder, int number) {
  return fmt::format("{}.before-{}", folder, number);
}
std::string saving_folder(std::uint64_t step) {
  return fmt::format(".saving-step-{}", step);
}

Status agree(Communicator& comm, const Status& mine) {
  const std::string text =
      mine ? ""
           : fmt::format("{} {}", static_cast<int>(mine.error().code),
                         std::string_view(mine.error().context).substr(0, 4096));
  const auto texts = comm.gather_texts(text, {Purpose::save});
  if (!texts) return texts.error();
  for (std::size_t rank = 0; rank < texts->size(); ++rank) {
    const std::string& said = (*texts)[rank];
    if (said.empty()) continue;
    const std::size_t blank = said.find(' ');
    const auto code = parse_int(std::string_view(said).substr(0, blank)).value_or(0);
    return make_error(static_cast<Errc>(code),
                      fmt::format("rank {}: {}", rank, said.substr(blank + 1)));
  }
  return {};
}

Status write_checkpoint(SaveDisk& disk, Communicator& comm, const SaveJob& job,
                        std::vector<std::string>& warnings) {
  return Writer(disk, comm, job).write(warnings);
}

}  // namespace muster::train
