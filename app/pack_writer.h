#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/blocks/block_hash.h"
#include "core/blocks/block_sink.h"
#include "core/blocks/pack_manifest.h"
#include "edge/os/data_file.h"

namespace muster {

// Writes the folder of a pack in order, hashing as it goes. The folder has its name only after
// finish(): before that it is a .partial one beside it, which goes away with the writer.
class PackWriter final : public blocks::BlockSink {
 public:
  // Errc::invalid_input where `folder` is there already.
  static Result<std::unique_ptr<PackWriter>> begin(const std::string& folder,
                                                   std::uint32_t block_tokens);

  Status blocks(std::uint64_t first_block, std::span<const std::int32_t> ids,
                std::span<const std::uint8_t> loss) override;
  Status ends(std::span<const std::uint64_t> ends) override;

  std::uint64_t written_blocks() const { return blocks_; }

  // Fills in what the writer knows (L, N, pieces, trained tokens, all hashes) and gives the pack
  // its name. The rest of the account is the caller's; one that does not add up is Errc::internal.
  // Returns what was written.
  Result<blocks::PackManifest> finish(blocks::PackManifest manifest);

 private:
  PackWriter(NewPath folder, std::uint32_t block_tokens);
  Status create();
  Status flush_group();

  // A file that grows at its end.
  struct Growing {
    std::optional<DataWriter> file;
    std::uint64_t bytes = 0;
    Status add(std::string_view more);
  };

  NewPath folder_;
  std::uint32_t block_tokens_;
  Growing blocks_file_, ends_file_, loss_file_, hashes_file_;
  std::uint64_t blocks_ = 0, pieces_ = 0, trained_ = 0;
  std::vector<std::uint64_t> group_;  // hashes of the blocks of the group that is not full
  std::vector<blocks::Hash128> groups_;
  blocks::RunningHash ends_hash_, loss_hash_;
};

}  // namespace muster
