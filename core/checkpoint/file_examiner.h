#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/checkpoint/checkpoint_manifest.h"
#include "core/checkpoint/checkpoint_names.h"
#include "core/checkpoint/loss_health.h"

namespace muster::checkpoint {

enum class FileState : std::uint8_t {
  unread,     // only name and size are known, as of a listing, or it could not be read
  sound,      // what its form says of itself holds
  unchecked,  // nothing in it says where it ends, or the form is not known here
  torn        // it holds less than it says, has no end, or holds nothing
};

// A file of a checkpoint, as far as a few bytes of it tell.
struct FileFacts {
  std::string name;  // below the folder of its checkpoint
  FileKind kind = FileKind::other;
  std::optional<std::uint64_t> bytes;
  std::optional<WallTime> modified;
  FileState state = FileState::unread;
  std::string fault;  // torn: what says so, with numbers; unchecked: why

  // index: how many tensors each file must have. dcp_metadata: the bytes that each
  // file must have at least.
  std::map<std::string, std::uint64_t> names;
  std::optional<std::uint64_t> tensors;     // safetensors
  std::optional<std::uint64_t> data_bytes;  // safetensors; of an index, what it says of all
  std::optional<std::uint64_t> step;        // trainer_state, manifest
  LossHealth loss;                          // trainer_state
  std::string text;                         // tracker: what it names
  std::optional<CheckpointManifest> manifest;
  bool ends_like_zip = false;  // dcp_shard

  // Where a listing has it.
  std::string source;
  std::optional<std::uint64_t> line;
};

// A file of which a listing tells name and size.
FileFacts listed_file(std::string name, std::optional<std::uint64_t> bytes);

// Says which bytes of a file to look at, one piece after the other, and what they tell. Pieces are
// at most limits::kContractBytes; weights and moments are never read.
class FileExaminer {
 public:
  FileExaminer(std::string name, std::uint64_t bytes);

  struct Piece {
    std::uint64_t offset = 0, bytes = 0;
  };
  // The next piece to read; nothing where all is known.
  std::optional<Piece> wanted() const { return wanted_; }
  // What stands there; fewer bytes than wanted are the end of a file that got shorter.
  void give(std::string_view bytes);
  FileFacts take() { return std::move(facts_); }

 private:
  enum class Stage : std::uint8_t { first, safetensors_header, zip_head, zip_directory };
  void begin(std::uint64_t bytes);
  void want(std::uint64_t offset, std::uint64_t bytes, Stage stage);
  void done(FileState state, std::string fault = "");
  void first(std::string_view bytes);
  void zip_tail(std::string_view tail);
  void document(std::string_view bytes);

  FileFacts facts_;
  std::uint64_t bytes_;
  std::optional<Piece> wanted_;
  Stage stage_ = Stage::first;
  std::uint64_t directory_begin_ = 0, directory_bytes_ = 0, entries_ = 0, archive_begin_ = 0;
};

}  // namespace muster::checkpoint
