#include "app/pack_writer.h"

#include <utility>

#include "base/check.h"
#include "base/memory_bytes.h"
#include "core/blocks/loss_bits.h"

namespace muster {

Status PackWriter::Growing::add(std::string_view more) {
  Status written = file->write_at(bytes, more);
  bytes += more.size();
  return written;
}

PackWriter::PackWriter(NewPath folder, std::uint32_t block_tokens)
    : folder_(std::move(folder)), block_tokens_(block_tokens) {}

Result<std::unique_ptr<PackWriter>> PackWriter::begin(const std::string& folder,
                                                      std::uint32_t block_tokens) {
  auto place = NewPath::begin(folder, NewPath::Kind::folder);
  if (!place) return place.error();
  std::unique_ptr<PackWriter> writer(new PackWriter(std::move(*place), block_tokens));
  if (Status created = writer->create(); !created) return created.error();
  return writer;
}

Status PackWriter::create() {
  const std::pair<std::string_view, Growing*> files[] = {{blocks::kBlocksName, &blocks_file_},
                                                         {blocks::kDocEndsName, &ends_file_},
                                                         {blocks::kLossBitsName, &loss_file_},
                                                         {blocks::kHashesName, &hashes_file_}};
  for (const auto& [name, growing] : files) {
    auto file = DataWriter::create(folder_.place() + "/" + std::string(name));
    if (!file) return file.error();
    growing->file = std::move(*file);
  }
  return {};
}

Status PackWriter::blocks(std::uint64_t first_block, std::span<const std::int32_t> ids,
                          std::span<const std::uint8_t> loss) {
  MUSTER_CHECK(
      first_block == blocks_ && ids.size() % block_tokens_ == 0 && loss.size() * 8 == ids.size(),
      "whole blocks in order");
  for (std::size_t at = 0; at < ids.size(); at += block_tokens_) {
    group_.push_back(blocks::hash_block(ids.subspan(at, block_tokens_)));
    ++blocks_;
    if (group_.size() < blocks::kGroupBlocks) continue;
    if (Status flushed = flush_group(); !flushed) return flushed;
  }
  trained_ += blocks::count_set(loss);
  loss_hash_.add(memory_bytes(loss));
  if (Status added = loss_file_.add(memory_bytes(loss)); !added) return added;
  return blocks_file_.add(memory_bytes(ids));
}

Status PackWriter::flush_group() {
  if (group_.empty()) return {};
  groups_.push_back(blocks::hash_group(group_));
  Status added = hashes_file_.add(memory_bytes(std::span<const std::uint64_t>(group_)));
  group_.clear();
  return added;
}

Status PackWriter::ends(std::span<const std::uint64_t> ends) {
  pieces_ += ends.size();
  ends_hash_.add(memory_bytes(ends));
  return ends_file_.add(memory_bytes(ends));
}

Result<blocks::PackManifest> PackWriter::finish(blocks::PackManifest manifest) {
  if (Status flushed = flush_group(); !flushed) return flushed.error();
  manifest.block_tokens = block_tokens_;
  manifest.blocks = blocks_;
  manifest.pieces = pieces_;
  manifest.trained_tokens = trained_;
  manifest.groups.clear();
  for (const blocks::Hash128& group : groups_) manifest.groups.push_back(hash_text(group));
  manifest.root = hash_text(blocks::hash_root(groups_));
  manifest.doc_ends_hash = hash_text(ends_hash_.value());
  manifest.loss_bits_hash = hash_text(loss_hash_.value());
  const std::string text = encode_manifest(manifest);
  if (const auto sound = blocks::decode_manifest(text); !sound) {
    return make_error(Errc::internal, "the manifest contradicts itself: " + sound.error().context);
  }
  Growing manifest_file;
  auto file = DataWriter::create(folder_.place() + "/" + std::string(blocks::kManifestName));
  if (!file) return file.error();
  manifest_file.file = std::move(*file);
  if (Status written = manifest_file.add(text); !written) return written.error();
  for (Growing* growing :
       {&blocks_file_, &ends_file_, &loss_file_, &hashes_file_, &manifest_file}) {
    if (Status synced = growing->file->sync(); !synced) return synced.error();
  }
  if (Status kept = folder_.keep(); !kept) return kept.error();
  return manifest;
}

}  // namespace muster
