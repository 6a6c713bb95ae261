#include "app/pack_export.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/part_folder.h"
#include "base/memory_bytes.h"
#include "core/blocks/megatron_index.h"
#include "core/blocks/npy_header.h"
#include "edge/os/new_file.h"

namespace muster {
namespace {

constexpr std::uint64_t kChunkTokens = 1024 * 1024;
constexpr std::uint64_t kMegatronSmall = 65'500;  // ids below it are u16 in its files

Error stopped() {
  return make_error(Errc::unavailable, "stopped: nothing is left of what was written");
}

std::uint64_t chunk_blocks(const OpenPack& pack) {
  return std::max<std::uint64_t>(1, kChunkTokens / pack.manifest().block_tokens);
}

// ---- Megatron ----------------------------------------------------------------------------------

// Where the sequences of a pack begin and end, one after the other.
class Sequences {
 public:
  explicit Sequences(const OpenPack& pack)
      : pack_(pack), manifest_(pack.manifest()), whole_blocks_(manifest_.pieces == 0) {}

  // False after the last.
  Result<bool> next(std::uint64_t& begin, std::uint64_t& end) {
    const std::uint64_t length = manifest_.block_tokens, all = manifest_.tokens();
    begin = last_;
    if (index_ < manifest_.pieces) {
      if (at_ == ends_.size()) {
        ends_.resize(std::min<std::uint64_t>(manifest_.pieces - index_, 64 * 1024));
        if (Status read = pack_.read_ends(index_, ends_); !read) return read.error();
        at_ = 0;
      }
      end = ends_[at_++];
      ++index_;
      if (end <= last_ || end > all) return make_error(Errc::corrupt, "docs.u64 does not rise");
      if (manifest_.mode != blocks::PackMode::concat) {
        begin = std::max(begin, (end - 1) / length * length);
      }
    } else if (last_ < all && manifest_.mode == blocks::PackMode::concat) {
      end = whole_blocks_ ? last_ + length : all;
    } else {
      return false;
    }
    last_ = end;
    return true;
  }

 private:
  const OpenPack& pack_;
  const blocks::PackManifest& manifest_;
  bool whole_blocks_;
  std::vector<std::uint64_t> ends_;
  std::size_t at_ = 0;
  std::uint64_t index_ = 0, last_ = 0;
};

// The .idx of sequences whose ids take `width` bytes. Three passes over docs.u64, no memory.
Status write_index(const OpenPack& pack, blocks::IdType type, NewFile& out) {
  constexpr std::uint64_t kLongest = 2'147'483'647;  // tokens of a sequence, an i32 in the index
  std::uint64_t begin = 0, end = 0, count = 0;
  const auto each = [&](auto&& take) -> Status {
    Sequences sequences(pack);
    for (;;) {
      const auto more = sequences.next(begin, end);
      if (!more) return more.error();
      if (!*more) return {};
      if (Status taken = take(end - begin); !taken) return taken;
    }
  };
  const auto add = [&out](auto value) {
    return out.append(memory_bytes(std::span<const decltype(value)>(&value, 1)));
  };
  Status fine = each([&](std::uint64_t tokens) -> Status {
    ++count;
    if (tokens <= kLongest) return {};
    return make_error(
        Errc::unsupported,
        fmt::format("a document of {} tokens: an index holds up to {}", tokens, kLongest));
  });
  if (fine) fine = out.append(blocks::megatron_header({type, count, count + 1}));
  if (fine) {
    fine = each([&](std::uint64_t tokens) { return add(static_cast<std::int32_t>(tokens)); });
  }
  std::int64_t at = 0;
  if (fine) {
    fine = each([&](std::uint64_t tokens) {
      Status added = add(at);
      at += static_cast<std::int64_t>(tokens * blocks::id_bytes(type));
      return added;
    });
  }
  for (std::int64_t i = 0; fine && i <= static_cast<std::int64_t>(count); ++i) fine = add(i);
  return fine;
}

// The tokens of all sequences, as `store` writes tokens [from, to) of a chunk.
template <typename Store>
Status each_token_run(const OpenPack& pack, const TokenProgress& progress, Store&& store) {
  const std::uint64_t length = pack.manifest().block_tokens, all = pack.manifest().tokens();
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> loss;
  std::uint64_t chunk_begin = 0, chunk_end = 0;
  Sequences sequences(pack);
  std::uint64_t begin = 0, end = 0;
  for (;;) {
    const auto more = sequences.next(begin, end);
    if (!more) return more.error();
    if (!*more) return {};
    while (begin < end) {
      if (begin >= chunk_end) {
        const std::uint64_t first = begin / length;
        const std::uint64_t count = std::min(chunk_blocks(pack), pack.manifest().blocks - first);
        if (Status read = pack.read_blocks(first, count, ids, loss); !read) return read;
        chunk_begin = first * length;
        chunk_end = chunk_begin + count * length;
        if (!progress(chunk_begin, all)) return stopped();
      }
      const std::uint64_t stop = std::min(end, chunk_end);
      if (Status stored = store(ids, loss, begin - chunk_begin, stop - chunk_begin); !stored) {
        return stored;
      }
      begin = stop;
    }
  }
}

using Ids = std::vector<std::int32_t>;
using Loss = std::vector<std::uint8_t>;

Status store_ids(const Ids& ids, std::uint64_t from, std::uint64_t to, bool small, NewFile& out) {
  if (!small) {
    return out.append(memory_bytes(std::span<const std::int32_t>(ids).subspan(from, to - from)));
  }
  for (std::uint64_t i = from; i < to; ++i) {
    if (ids[i] < 0 || static_cast<std::uint64_t>(ids[i]) >= kMegatronSmall) {
      return make_error(Errc::corrupt, fmt::format("id {} is beyond the vocabulary", ids[i]));
    }
    const auto id = static_cast<std::uint16_t>(ids[i]);
    if (Status added = out.append(memory_bytes(std::span<const std::uint16_t>(&id, 1))); !added)
      return added;
  }
  return {};
}

}  // namespace

Status export_megatron(const OpenPack& pack, const std::string& prefix,
                       const TokenProgress& progress) {
  const blocks::PackManifest& manifest = pack.manifest();
  const bool small = manifest.vocabulary_count && *manifest.vocabulary_count < kMegatronSmall;
  const bool masked = manifest.trained_tokens != manifest.tokens() - manifest.pad_tokens;
  std::vector<NewFile> files;  // kept in this order: the index of the ids comes last
  for (const std::string_view name : {"_loss_mask.bin", "_loss_mask.idx", ".bin", ".idx"}) {
    if (!masked && name.starts_with("_loss_mask")) continue;
    auto file = NewFile::begin(prefix + std::string(name));
    if (!file) return file.error();
    files.push_back(std::move(*file));
  }
  NewFile& bin = files[files.size() - 2];
  NewFile* mask = masked ? &files.front() : nullptr;
  Status fine = each_token_run(
      pack, progress,
      [&](const Ids& ids, const Loss& loss, std::uint64_t from, std::uint64_t to) -> Status {
        if (Status stored = store_ids(ids, from, to, small, bin); !stored) return stored;
        for (std::uint64_t i = from; mask != nullptr && i < to; ++i) {
          const char bit = static_cast<char>((loss[i / 8] >> (i % 8)) & 1);
          if (Status added = mask->append({&bit, 1}); !added) return added;
        }
        return {};
      });
  const auto type = small ? blocks::IdType::u16 : blocks::IdType::i32;
  if (fine && masked) fine = write_index(pack, blocks::IdType::u8, files[1]);
  if (fine) fine = write_index(pack, type, files.back());
  for (NewFile& file : files) {
    if (fine) fine = file.keep();
  }
  return fine;
}

Status export_numpy(const OpenPack& pack, const std::string& path, const TokenProgress& progress) {
  auto file = NewFile::begin(path);
  if (!file) return file.error();
  const blocks::PackManifest& manifest = pack.manifest();
  Status fine = file->append(blocks::npy_header(manifest.blocks, manifest.block_tokens));
  Ids ids;
  Loss loss;
  const std::uint64_t step = chunk_blocks(pack);
  for (std::uint64_t at = 0; fine && at < manifest.blocks; at += step) {
    fine = pack.read_blocks(at, std::min(step, manifest.blocks - at), ids, loss);
    if (fine) fine = file->append(memory_bytes(std::span<const std::int32_t>(ids)));
    if (fine && !progress(at * manifest.block_tokens, manifest.tokens())) fine = stopped();
  }
  return fine ? file->keep() : fine;
}

Status export_ranks(const OpenPack& pack, const blocks::StepPlan& plan, std::uint64_t seed,
                    std::uint64_t epoch, const std::string& folder, const TokenProgress& progress) {
  auto part = PartFolder::begin(real_work_folders(), folder);
  if (!part) return part.error();
  const blocks::StepShape& shape = plan.shape();
  const blocks::EpochBlocks order(plan, seed, epoch);
  const std::uint64_t total = plan.steps() * shape.global_batch * pack.manifest().block_tokens;
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(shape.world_size - 1).size());
  Ids ids;
  Loss loss;
  std::uint64_t done = 0;
  // One rank after the other: as many open files as ranks would be too many.
  for (std::uint64_t rank = 0; rank < shape.world_size; ++rank) {
    auto out = part->folder().open(fmt::format("rank{:0{}}.i32", rank, digits));
    if (!out) return out.error();
    for (std::uint64_t s = 0; s < plan.steps(); ++s) {
      for (std::uint64_t j = 0; j < plan.accumulation(); ++j) {
        for (std::uint64_t i = 0; i < shape.micro_batch; ++i) {
          const std::uint64_t block = order.at(plan.position(s, rank, j, i));
          Status fine = pack.read_blocks(block, 1, ids, loss);
          if (fine) fine = (*out)->append(memory_bytes(std::span<const std::int32_t>(ids)));
          if (!fine) return fine;
          done += ids.size();
        }
      }
      if (!progress(done, total)) return stopped();
    }
    if (Status synced = (*out)->sync(); !synced) return synced;
  }
  return part->keep();
}

}  // namespace muster
