#include "core/checkpoint/file_examiner.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "core/checkpoint/dcp_metadata.h"
#include "core/checkpoint/safetensors.h"
#include "core/checkpoint/zip_directory.h"
#include "core/model/json_reader.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint64_t kPieceBytes = limits::kContractBytes;
constexpr std::uint64_t kZipHeadBytes = 64;
constexpr std::uint64_t kTrackerBytes = 4096;

// Kinds that have to hold something.
bool may_be_empty(FileKind kind) {
  return kind == FileKind::other || kind == FileKind::marker || kind == FileKind::temporary ||
         kind == FileKind::tracker;
}

bool known_whole(FileKind kind) {
  return kind == FileKind::index || kind == FileKind::trainer_state || kind == FileKind::json ||
         kind == FileKind::manifest || kind == FileKind::dcp_metadata;
}

void read_index(const JsonNode& document, FileFacts& out) {
  const JsonNode* map = document.find("weight_map");
  const auto* rows = map == nullptr ? nullptr : map->get<JsonNode::Object>();
  if (rows == nullptr) return;
  for (const auto& [tensor, file] : *rows) {
    const auto* name = file.get<std::string>();
    if (name != nullptr && name->size() <= 512) ++out.names[*name];
  }
  const JsonNode* metadata = document.find("metadata");
  const JsonNode* total = metadata == nullptr ? nullptr : metadata->find("total_size");
  const auto* bytes = total == nullptr ? nullptr : total->get<std::int64_t>();
  if (bytes != nullptr && *bytes >= 0) out.data_bytes = static_cast<std::uint64_t>(*bytes);
}

}  // namespace

FileExaminer::FileExaminer(std::string name, std::uint64_t bytes) : bytes_(bytes) {
  facts_.name = std::move(name);
  facts_.bytes = bytes;
  facts_.kind = kind_of_file(facts_.name);
  begin(bytes);
}

void FileExaminer::begin(std::uint64_t bytes) {
  const FileKind kind = facts_.kind;
  if (bytes == 0) return done(may_be_empty(kind) ? FileState::unchecked : FileState::torn, "empty");
  if (kind == FileKind::safetensors) return want(0, 8, Stage::first);
  if (kind == FileKind::torch) return want(0, kZipHeadBytes, Stage::zip_head);
  if (kind == FileKind::dcp_shard) {
    const std::uint64_t tail = std::min<std::uint64_t>(bytes, 22);
    return want(bytes - tail, tail, Stage::first);
  }
  if (kind == FileKind::tracker) return want(0, kTrackerBytes, Stage::first);
  if (!known_whole(kind)) return done(FileState::unchecked);
  if (bytes > kPieceBytes) {
    return done(FileState::unchecked, fmt::format("{} bytes: too long to be read", bytes));
  }
  want(0, bytes, Stage::first);
}

FileFacts listed_file(std::string name, std::optional<std::uint64_t> bytes) {
  FileFacts out;
  out.name = std::move(name);
  out.kind = kind_of_file(out.name);
  out.bytes = bytes;
  if (bytes == std::uint64_t{0} && !may_be_empty(out.kind)) {
    out.state = FileState::torn;
    out.fault = "empty";
  }
  return out;
}

void FileExaminer::want(std::uint64_t offset, std::uint64_t bytes, Stage stage) {
  wanted_ = Piece{offset, std::min(bytes, bytes_ - std::min(offset, bytes_))};
  stage_ = stage;
}

void FileExaminer::done(FileState state, std::string fault) {
  wanted_.reset();
  facts_.state = state;
  facts_.fault = std::move(fault);
}

void FileExaminer::give(std::string_view bytes) {
  const std::uint64_t asked = wanted_ ? wanted_->bytes : 0;
  if (bytes.size() < asked) return done(FileState::unread, "it became shorter while it was read");
  switch (stage_) {
    case Stage::first:
      return first(bytes);
    case Stage::safetensors_header: {
      const auto header = parse_safetensors(bytes);
      if (!header) {
        const bool large = header.error().code == Errc::exhausted;
        return done(large ? FileState::unchecked : FileState::torn, header.error().context);
      }
      facts_.tensors = header->tensors.size();
      facts_.data_bytes = header->data_bytes();
      if (bytes_ < header->file_bytes()) {
        return done(FileState::torn,
                    fmt::format("its header promises {} bytes of data, the file holds {}",
                                header->data_bytes(), bytes_ - header->data_begin));
      }
      if (bytes_ > header->file_bytes()) {
        return done(FileState::torn, fmt::format("{} bytes more than its header tells of",
                                                 bytes_ - header->file_bytes()));
      }
      return done(FileState::sound);
    }
    case Stage::zip_head:
      if (bytes.find_first_not_of('\0') == std::string_view::npos) {
        return done(FileState::torn, "it begins with zeros: room was taken and never filled");
      }
      if (!bytes.starts_with("PK\3\4") && !bytes.starts_with("PK\5\6")) {
        return done(FileState::unchecked,
                    "no zip: written by an old torch.save or another program");
      }
      return want(bytes_ - std::min(bytes_, kZipTailBytes), kZipTailBytes, Stage::first);
    case Stage::zip_directory: {
      const ZipEnd end{entries_, directory_begin_, directory_bytes_, archive_begin_};
      const Status sound = check_zip_directory(bytes, end);
      return done(sound ? FileState::sound : FileState::torn, sound ? "" : sound.error().context);
    }
  }
}

void FileExaminer::zip_tail(std::string_view tail) {
  const auto end = find_zip_end(tail, bytes_);
  if (!end) return done(FileState::torn, end.error().context);
  if (end->directory_bytes > kPieceBytes) return done(FileState::sound);
  entries_ = end->entries;
  directory_begin_ = end->directory_begin;
  directory_bytes_ = end->directory_bytes;
  archive_begin_ = end->archive_begin;
  want(directory_begin_, directory_bytes_, Stage::zip_directory);
}

void FileExaminer::first(std::string_view bytes) {
  switch (facts_.kind) {
    case FileKind::safetensors: {
      const auto begin = safetensors_data_begin(bytes);
      if (!begin) return done(FileState::torn, begin.error().context);
      if (*begin > bytes_) {
        return done(FileState::torn,
                    fmt::format("its header has {} bytes, the file {}", *begin - 8, bytes_));
      }
      if (*begin > kPieceBytes) return done(FileState::unchecked, "a header too long to be read");
      return want(0, *begin, Stage::safetensors_header);
    }
    case FileKind::torch:
      return zip_tail(bytes);
    case FileKind::dcp_shard:
      facts_.ends_like_zip = bytes.size() == 22 && bytes.starts_with("PK\5\6");
      return done(FileState::unchecked);
    case FileKind::tracker:
      facts_.text = std::string(trim(bytes));
      return done(FileState::sound);
    case FileKind::dcp_metadata:
      facts_.names = dcp_files(bytes);
      // The last instruction of every pickle.
      if (bytes.back() != '.') return done(FileState::torn, "a pickle without its end");
      return done(FileState::sound);
    default:
      return document(bytes);
  }
}

// What is JSON as a whole.
void FileExaminer::document(std::string_view bytes) {
  if (facts_.kind == FileKind::trainer_state) {
    const auto state = read_trainer_state(bytes);
    if (!state) return done(FileState::torn, "no whole JSON document with a global_step");
    facts_.step = state->global_step;
    facts_.loss = judge_losses(state->rows);
    return done(FileState::sound);
  }
  if (facts_.kind == FileKind::manifest) {
    auto manifest = decode_checkpoint_manifest(bytes);
    if (!manifest) return done(FileState::torn, manifest.error().context);
    facts_.step = manifest->step;
    facts_.manifest = std::move(*manifest);
    return done(FileState::sound);
  }
  const auto json = parse_json(bytes);
  if (!json && json.error().code != Errc::corrupt) {
    return done(FileState::unchecked, json.error().context);
  }
  if (!json) return done(FileState::torn, "no whole JSON document");
  if (facts_.kind == FileKind::index) read_index(*json, facts_);
  done(FileState::sound);
}

}  // namespace muster::checkpoint
