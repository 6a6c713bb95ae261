#include "app/pack_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/path_walk.h"
#include "app/rank_file.h"
#include "base/memory_bytes.h"
#include "core/blocks/megatron_index.h"
#include "core/blocks/npy_header.h"
#include "edge/os/data_file.h"
#include "edge/os/files.h"

namespace muster {
namespace {

constexpr std::uint64_t kRunTokens = 1024 * 1024;

std::string_view text_of(const std::vector<char>& bytes) {
  return {bytes.data(), bytes.size()};
}

// Ids that lie back to back in several files.
struct Part {
  DataReader file;
  std::uint64_t begin = 0;  // bytes
  std::uint64_t ids = 0;
  std::uint64_t records = 0;    // blocks or rows
  std::uint64_t documents = 0;  // that ended in it so far
};

// Per-rank files and .npy. Where documents end is known by their EOS alone, and at the end of each
// part: the next one does not go on with its last document.
class FlatSource final : public PackSource {
 public:
  FlatSource(std::vector<Part> parts, blocks::IdType type, std::optional<std::int32_t> eos)
      : parts_(std::move(parts)), type_(type), eos_(eos) {
    for (const Part& part : parts_) tokens_ += part.ids;
  }
  std::uint64_t tokens() const override { return tokens_; }
  bool knows_documents() const override { return eos_.has_value(); }

  Status next(blocks::TokenRun& run) override {
    run.clear();
    while (part_ < parts_.size() && at_ == parts_[part_].ids) {
      ++part_;
      at_ = 0;
    }
    if (part_ == parts_.size()) return {};
    Part& part = parts_[part_];
    const std::uint64_t count = std::min(kRunTokens, part.ids - at_);
    const std::uint64_t width = blocks::id_bytes(type_);
    Status read;
    if (type_ == blocks::IdType::i32) {  // as they lie, without a copy
      run.ids.resize(count);
      read = part.file.read_at(part.begin + at_ * width, writable_bytes(std::span(run.ids)));
    } else {
      bytes_.resize(count * width);
      read = part.file.read_at(part.begin + at_ * width, bytes_);
      if (read) read = blocks::append_ids(type_, text_of(bytes_), run.ids);
    }
    if (!read) return within(part.file.path(), read.error());
    run.trained.append(count, true);
    at_ += count;
    if (eos_) find_ends(run, at_ == part.ids);
    part.documents += run.ends.size();
    return {};
  }

  std::vector<blocks::PackInput> inputs() const override {
    std::vector<blocks::PackInput> out;
    for (const Part& part : parts_) {
      out.push_back({part.file.path(), part.file.bytes(), part.records, part.documents, 0, ""});
    }
    return out;
  }

  std::uint64_t left_out_bytes() const override {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) {
      sum += part.file.bytes() - part.begin - part.ids * blocks::id_bytes(type_);
    }
    return sum;
  }

 private:
  void find_ends(blocks::TokenRun& run, bool part_ends) const {
    for (std::size_t i = 0; i < run.ids.size(); ++i) {
      if (run.ids[i] == *eos_) run.ends.push_back(i + 1);
    }
    if (part_ends && (run.ends.empty() || run.ends.back() != run.ids.size())) {
      run.ends.push_back(run.ids.size());
    }
  }

  std::vector<Part> parts_;
  blocks::IdType type_;
  std::optional<std::int32_t> eos_;
  std::uint64_t tokens_ = 0, at_ = 0;
  std::size_t part_ = 0;
  std::vector<char> bytes_;
};

// ---- Megatron ----------------------------------------------------------------------------------

struct Megatron {
  DataReader index_file, bin;
  blocks::MegatronIndex index;
};

Result<Megatron> open_megatron(const std::string& prefix) {
  auto index_file = DataReader::open(prefix + ".idx");
  if (!index_file) return index_file.error();
  auto bin = DataReader::open(prefix + ".bin");
  if (!bin) return bin.error();
  std::string head(std::min<std::uint64_t>(blocks::kMegatronHeaderBytes, index_file->bytes()), ' ');
  if (Status read = index_file->read_at(0, head); !read) return read.error();
  auto index = blocks::parse_megatron_index(head, index_file->bytes());
  if (!index) return within(index_file->path(), index.error());
  return Megatron{std::move(*index_file), std::move(*bin), *index};
}

class MegatronSource final : public PackSource {
 public:
  MegatronSource(Megatron ids, std::optional<Megatron> mask)
      : ids_(std::move(ids)), mask_(std::move(mask)), check_(ids_.index, ids_.bin.bytes()) {}
  std::uint64_t tokens() const override {
    return ids_.bin.bytes() / blocks::id_bytes(ids_.index.type);
  }
  bool knows_documents() const override { return true; }

  // The whole index before the first token: a pack must not be half written when it breaks off.
  Status check() {
    constexpr std::uint64_t kEntries = 64 * 1024;
    for (std::uint64_t at = 0; at < ids_.index.sequences; at += kEntries) {
      const std::uint64_t n = std::min(kEntries, ids_.index.sequences - at);
      Status fine = read_entries(ids_, at, n);
      if (fine) fine = check_.add(sizes_, pointers_);
      if (fine && mask_) {
        const std::vector<std::int32_t> sizes = sizes_;
        fine = read_entries(*mask_, at, n);
        if (fine && sizes != sizes_) {
          fine = make_error(Errc::corrupt, "sequences of the loss mask have other lengths");
        }
      }
      if (!fine) return within(ids_.index_file.path(), fine.error());
    }
    for (std::uint64_t at = 0; at < ids_.index.document_entries; at += kEntries) {
      std::vector<std::int64_t> documents(std::min(kEntries, ids_.index.document_entries - at));
      Status fine = ids_.index_file.read_at(ids_.index.documents_at() + at * 8,
                                            writable_bytes(std::span(documents)));
      if (fine) fine = check_.add_documents(documents);
      if (!fine) return within(ids_.index_file.path(), fine.error());
    }
    Status whole = check_.finish();
    return whole ? whole : Status(within(ids_.index_file.path(), whole.error()));
  }

  // Sequences of one document are pieces of it: each ends where the trainer would end it.
  Status next(blocks::TokenRun& run) override {
    run.clear();
    std::uint64_t tokens = 0, sequences = 0;
    while (sequence_ < ids_.index.sequences && tokens < kRunTokens && sequences < kRunTokens) {
      if (used_ == sizes_.size() || sequence_ == 0) {
        const std::uint64_t n =
            std::min<std::uint64_t>(64 * 1024, ids_.index.sequences - sequence_);
        if (Status read = read_entries(ids_, sequence_, n); !read) return read;
        used_ = 0;
      }
      // A sequence that is longer than a run is read in parts.
      const std::uint64_t left = static_cast<std::uint64_t>(sizes_[used_]) - in_sequence_;
      const std::uint64_t take = std::min(left, kRunTokens - tokens);
      tokens += take;
      in_sequence_ += take;
      if (take < left) break;
      run.ends.push_back(tokens);
      in_sequence_ = 0;
      ++used_;
      ++sequence_;
      ++sequences;
    }
    if (Status read = read_ids(tokens, run); !read) return read;
    at_ += tokens;
    return {};
  }

  std::vector<blocks::PackInput> inputs() const override {
    return {{ids_.bin.path(), ids_.bin.bytes(), ids_.index.sequences, ids_.index.sequences, 0, ""}};
  }

  std::uint64_t left_out_bytes() const override { return 0; }  // the index counts every byte

 private:
  Status read_entries(const Megatron& from, std::uint64_t first, std::uint64_t count) {
    sizes_.resize(count);
    pointers_.resize(count);
    Status read = from.index_file.read_at(from.index.sizes_at() + first * 4,
                                          writable_bytes(std::span(sizes_)));
    if (!read) return read;
    return from.index_file.read_at(from.index.pointers_at() + first * 8,
                                   writable_bytes(std::span(pointers_)));
  }

  Status read_ids(std::uint64_t tokens, blocks::TokenRun& run) {
    const std::uint64_t width = blocks::id_bytes(ids_.index.type);
    bytes_.resize(tokens * width);
    Status read = ids_.bin.read_at(at_ * width, bytes_);
    if (read) read = blocks::append_ids(ids_.index.type, text_of(bytes_), run.ids);
    if (!read) return within(ids_.bin.path(), read.error());
    if (!mask_) {
      run.trained.append(tokens, true);
      return {};
    }
    bytes_.resize(tokens);
    if (Status mask = mask_->bin.read_at(at_, bytes_); !mask) return mask;
    for (std::size_t i = 0; i < bytes_.size();) {
      std::size_t end = i + 1;
      while (end < bytes_.size() && (bytes_[end] != 0) == (bytes_[i] != 0)) ++end;
      run.trained.append(end - i, bytes_[i] != 0);
      i = end;
    }
    return {};
  }

  Megatron ids_;
  std::optional<Megatron> mask_;
  blocks::MegatronSequences check_;
  std::vector<std::int32_t> sizes_;
  std::vector<std::int64_t> pointers_;
  std::vector<char> bytes_;
  std::uint64_t sequence_ = 0, in_sequence_ = 0, at_ = 0;
  std::size_t used_ = 0;
};

Result<std::unique_ptr<PackSource>> megatron_source(const std::string& prefix) {
  auto ids = open_megatron(prefix);
  if (!ids) return ids.error();
  std::optional<Megatron> mask;
  if (real_files().stat(prefix + "_loss_mask.idx")) {
    auto opened = open_megatron(prefix + "_loss_mask");
    if (!opened) return opened.error();
    if (blocks::id_bytes(opened->index.type) != 1 ||
        opened->index.sequences != ids->index.sequences ||
        opened->bin.bytes() != ids->bin.bytes() / blocks::id_bytes(ids->index.type)) {
      return make_error(Errc::corrupt, prefix + "_loss_mask.idx: not a byte for each token");
    }
    mask = std::move(*opened);
  }
  auto source = std::make_unique<MegatronSource>(std::move(*ids), std::move(mask));
  if (Status fine = source->check(); !fine) return fine.error();
  return std::unique_ptr<PackSource>(std::move(source));
}

// ---- flat files --------------------------------------------------------------------------------

Result<std::unique_ptr<PackSource>> numpy_source(const std::string& path, DataReader file,
                                                 const PackSourceOptions& options) {
  std::string head(std::min<std::uint64_t>(blocks::kNpyHeadBytes, file.bytes()), ' ');
  if (Status read = file.read_at(0, head); !read) return read.error();
  const auto header = blocks::parse_npy_header(head, file.bytes());
  if (!header) return within(path, header.error());
  std::vector<Part> parts;
  parts.push_back({std::move(file), header->data_at, header->ids(), header->shape[0], 0});
  return std::unique_ptr<PackSource>(
      std::make_unique<FlatSource>(std::move(parts), header->type, options.eos));
}

Result<std::unique_ptr<PackSource>> rank_source(const std::vector<std::string>& paths,
                                                const PackSourceOptions& options) {
  PathWalk walk(real_files());
  for (const std::string& path : paths) walk.path(path);
  walk.finish();
  if (walk.failure) return *walk.failure;
  std::map<std::uint64_t, RankFile> ranks;
  for (const PathWalk::Item& item : walk.items) {
    const auto file = rank_file(item.path, real_files());
    if (!file) continue;
    if (!ranks.emplace(file->rank, *file).second) {
      return make_error(Errc::invalid_input,
                        fmt::format("{}: a second file of rank {}", item.path, file->rank));
    }
  }
  std::vector<Part> parts;
  for (const auto& [rank, file] : ranks) {
    auto opened = DataReader::open(file.path);
    if (!opened) return opened.error();
    const std::uint64_t blocks = opened->bytes() / 4 / options.block_tokens;
    parts.push_back({std::move(*opened), 0, blocks * options.block_tokens, blocks, 0});
  }
  if (parts.empty()) {
    return make_error(Errc::invalid_input,
                      paths.front() +
                          ": neither per-rank ids (NAME.i32), nor an index of Megatron "
                          "(.idx), nor .npy");
  }
  return std::unique_ptr<PackSource>(
      std::make_unique<FlatSource>(std::move(parts), blocks::IdType::i32, options.eos));
}

}  // namespace

Result<std::unique_ptr<PackSource>> open_pack_source(const std::vector<std::string>& paths,
                                                     const PackSourceOptions& options) {
  const std::string& first = paths.front();
  std::string prefix = first;
  if (prefix.ends_with(".idx") || prefix.ends_with(".bin")) prefix.resize(prefix.size() - 4);
  std::string head;
  if (auto file = DataReader::open(first)) {
    head.resize(std::min<std::uint64_t>(blocks::kMegatronMagic.size(), file->bytes()));
    if (Status read = file->read_at(0, head); !read) return read.error();
    if (head.starts_with("\x93NUMPY")) {
      if (paths.size() == 1) return numpy_source(first, std::move(*file), options);
      return make_error(Errc::invalid_input, "one .npy at a time");
    }
  }
  const bool index = head == blocks::kMegatronMagic || real_files().stat(prefix + ".idx");
  if (!index) return rank_source(paths, options);
  if (paths.size() == 1) return megatron_source(prefix);
  return make_error(Errc::invalid_input, "one data set of Megatron at a time");
}

}  // namespace muster
