#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/pack_journal.h"
#include "base/result.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/block_sink.h"
#include "core/blocks/pack_manifest.h"
#include "edge/os/work_folder.h"

namespace muster {

// The files of a pack while they grow (kPackFiles), with their hashes: whoever makes a pack, of
// texts or of ids, writes it so.
class PackFiles final : public blocks::BlockSink {
 public:
  // Opens them as they are. `prefix` stands in front of all names but errors.jsonl: "spill." for
  // what a second pass reads again; its hashes of blocks are not taken.
  static Result<std::unique_ptr<PackFiles>> open(WorkFolder& folder, const std::string& prefix,
                                                 std::uint32_t block_tokens);

  Status blocks(std::uint64_t first_block, std::span<const std::int32_t> ids,
                std::span<const std::uint8_t> loss) override;
  Status ends(std::span<const std::uint64_t> ends) override;
  Status error_lines(std::string_view lines);

  Status sync();
  PackFileStates files() const;
  std::uint64_t trained_tokens() const { return trained_; }  // in the blocks

  // How many of the states, from the first, are true of the files as they lie there: reads them
  // once.
  Result<std::size_t> true_states(std::span<const PackFileStates> states);
  // Cuts everything behind what the mark says; nothing: all.
  Status restore(const PackMark* mark);

  // What is in the files is on the disk, and is told to the manifest: L, N, pieces, trained tokens
  // and all hashes. The rest of the account is the caller's; one that does not add up, or is too
  // long to be read again, is Errc::internal.
  Result<blocks::PackManifest> seal(blocks::PackManifest manifest);
  Result<std::size_t> read(std::size_t file, std::uint64_t offset, std::span<char> buffer) {
    return files_[file].file->read(offset, buffer);
  }

 private:
  struct One {
    std::unique_ptr<WorkFile> file;
    std::unique_ptr<blocks::RunningHash> hash;
  };
  explicit PackFiles(std::uint32_t block_tokens, bool hashes)
      : block_tokens_(block_tokens), hash_blocks_(hashes) {}
  Status append(std::size_t file, std::string_view bytes);
  Status rehash(std::size_t file, std::uint64_t bytes);
  Result<std::vector<blocks::Hash128>> groups();

  std::uint32_t block_tokens_;
  bool hash_blocks_;
  std::array<One, kPackFiles.size()> files_;
  std::vector<std::uint64_t> hashes_;
  std::uint64_t trained_ = 0;
};

}  // namespace muster
