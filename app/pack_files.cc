#include "app/pack_files.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "base/memory_bytes.h"
#include "core/blocks/loss_bits.h"

namespace muster {
namespace {

enum Place : std::size_t { kBlocks, kEnds, kLoss, kHashes, kErrors };
constexpr std::size_t kReadBytes = 1024 * 1024;

}  // namespace

Result<std::unique_ptr<PackFiles>> PackFiles::open(WorkFolder& folder, const std::string& prefix,
                                                   std::uint32_t block_tokens) {
  std::unique_ptr<PackFiles> made(new PackFiles(block_tokens, prefix.empty()));
  for (std::size_t i = 0; i < kPackFiles.size(); ++i) {
    const std::string name(kPackFiles[i]);
    auto file = folder.open(i == kErrors ? name : prefix + name);
    if (!file) return file.error();
    made->files_[i] = {std::move(*file), std::make_unique<blocks::RunningHash>()};
  }
  return made;
}

Status PackFiles::append(std::size_t file, std::string_view bytes) {
  files_[file].hash->add(bytes);
  return files_[file].file->append(bytes);
}

Status PackFiles::blocks(std::uint64_t first_block, std::span<const std::int32_t> ids,
                         std::span<const std::uint8_t> loss) {
  MUSTER_CHECK(
      first_block * block_tokens_ * sizeof(std::int32_t) == files_[kBlocks].file->bytes() &&
          ids.size() % block_tokens_ == 0 && loss.size() * 8 == ids.size(),
      "whole blocks in order");
  trained_ += blocks::count_set(loss);
  hashes_.clear();
  for (std::size_t at = 0; hash_blocks_ && at < ids.size(); at += block_tokens_) {
    hashes_.push_back(blocks::hash_block(ids.subspan(at, block_tokens_)));
  }
  if (Status done = append(kBlocks, memory_bytes(ids)); !done) return done;
  if (Status done = append(kLoss, memory_bytes(loss)); !done) return done;
  return append(kHashes, memory_bytes(std::span<const std::uint64_t>(hashes_)));
}

Status PackFiles::ends(std::span<const std::uint64_t> ends) {
  return append(kEnds, memory_bytes(ends));
}
Status PackFiles::error_lines(std::string_view lines) {
  return append(kErrors, lines);
}

Status PackFiles::sync() {
  for (One& one : files_) {
    if (Status done = one.file->sync(); !done) return done;
  }
  return {};
}

PackFileStates PackFiles::files() const {
  PackFileStates out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {files_[i].file->bytes(), files_[i].hash->value()};
  }
  return out;
}

Result<std::size_t> PackFiles::true_states(std::span<const PackFileStates> states) {
  std::size_t good = states.size();
  std::string buffer;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    blocks::RunningHash hash;
    std::uint64_t at = 0;
    for (std::size_t m = 0; m < good; ++m) {
      const PackFileState& wanted = states[m][i];
      while (at < wanted.bytes && wanted.bytes <= files_[i].file->bytes()) {
        buffer.resize(std::min<std::uint64_t>(kReadBytes, wanted.bytes - at));
        const auto n = files_[i].file->read(at, buffer);
        if (!n) return n.error();
        if (*n == 0) break;
        hash.add(std::string_view(buffer).substr(0, *n));
        at += *n;
      }
      if (at != wanted.bytes || hash.value() != wanted.hash) good = m;
    }
  }
  return good;
}

Status PackFiles::rehash(std::size_t file, std::uint64_t bytes) {
  One& one = files_[file];
  one.hash = std::make_unique<blocks::RunningHash>();
  std::string buffer;
  for (std::uint64_t at = 0; at < bytes;) {
    buffer.resize(std::min<std::uint64_t>(kReadBytes, bytes - at));
    const auto n = one.file->read(at, buffer);
    if (!n) return n.error();
    if (*n == 0) return make_error(Errc::corrupt, "a file of the build ended while it was read");
    one.hash->add(std::string_view(buffer).substr(0, *n));
    at += *n;
  }
  return {};
}

Status PackFiles::restore(const PackMark* mark) {
  trained_ = mark == nullptr ? 0 : mark->trained_tokens;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::uint64_t bytes = mark == nullptr ? 0 : mark->files[i].bytes;
    if (Status done = files_[i].file->cut(bytes); !done) return done;
    if (Status done = rehash(i, bytes); !done) return done;
  }
  return {};
}

Result<std::vector<blocks::Hash128>> PackFiles::groups() {
  std::vector<blocks::Hash128> out;
  const std::uint64_t bytes = files_[kHashes].file->bytes();
  std::vector<std::uint64_t> group;
  for (std::uint64_t at = 0; at < bytes; at += group.size() * sizeof(std::uint64_t)) {
    group.resize(
        std::min<std::uint64_t>(blocks::kGroupBlocks, (bytes - at) / sizeof(std::uint64_t)));
    const auto n = files_[kHashes].file->read(at, writable_bytes(std::span(group)));
    if (!n) return n.error();
    if (*n != group.size() * sizeof(std::uint64_t)) {
      return make_error(Errc::corrupt, "hashes.u64 ended while it was read");
    }
    out.push_back(blocks::hash_group(group));
  }
  return out;
}

Result<blocks::PackManifest> PackFiles::seal(blocks::PackManifest manifest) {
  if (Status synced = sync(); !synced) return synced.error();
  const PackFileStates states = files();
  manifest.block_tokens = block_tokens_;
  manifest.blocks = states[kBlocks].bytes / sizeof(std::int32_t) / block_tokens_;
  manifest.pieces = states[kEnds].bytes / sizeof(std::uint64_t);
  manifest.trained_tokens = trained_;
  const auto hashes = groups();
  if (!hashes) return hashes.error();
  manifest.groups.clear();
  for (const blocks::Hash128& group : *hashes) manifest.groups.push_back(hash_text(group));
  manifest.root = hash_text(blocks::hash_root(*hashes));
  manifest.doc_ends_hash = hash_text(states[kEnds].hash);
  manifest.loss_bits_hash = hash_text(states[kLoss].hash);
  const std::string text = encode_manifest(manifest);
  if (text.size() > limits::kContractBytes) {
    return make_error(Errc::internal, "the manifest is too long to be read again");
  }
  if (const auto sound = blocks::decode_manifest(text); !sound) {
    return make_error(Errc::internal, "the manifest contradicts itself: " + sound.error().context);
  }
  return manifest;
}

}  // namespace muster
