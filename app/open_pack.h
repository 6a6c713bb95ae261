#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/blocks/pack_manifest.h"
#include "edge/os/data_file.h"

namespace muster {

// The files of one pack, open to be read, by several threads at once.
class OpenPack {
 public:
  // Errc::not_found without a manifest. Errc::corrupt where a file is not as long as the manifest
  // says: `damaged` is then its path.
  static Result<OpenPack> open(const std::string& folder, std::string& damaged);

  const blocks::PackManifest& manifest() const { return manifest_; }
  std::uint64_t manifest_bytes() const { return manifest_bytes_; }

  // `count` blocks from `first` on into `ids` and `loss`, which are sized for them.
  Status read_blocks(std::uint64_t first, std::uint64_t count, std::vector<std::int32_t>& ids,
                     std::vector<std::uint8_t>& loss) const;
  // Entries of docs.u64 and hashes.u64 from `first` on; `out` has the size that is wanted.
  Status read_ends(std::uint64_t first, std::span<std::uint64_t> out) const;
  Status read_hashes(std::uint64_t first, std::span<std::uint64_t> out) const;
  Status read_loss(std::uint64_t first_byte, std::span<char> out) const;
  // The first entry of docs.u64 that is beyond token `token`; pieces where none is. Entries that do
  // not rise make it a wrong one, never an endless search.
  Result<std::uint64_t> first_end_beyond(std::uint64_t token) const;

 private:
  OpenPack(blocks::PackManifest manifest, std::uint64_t manifest_bytes,
           std::vector<DataReader> files);

  blocks::PackManifest manifest_;
  std::uint64_t manifest_bytes_;
  std::vector<DataReader> files_;  // blocks, ends, loss, hashes
};

}  // namespace muster
