#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::checkpoint {

// What the trainer writes last into the folder of a checkpoint (docs/FORMATS.md,
// muster.checkpoint/1): a folder that has it is whole, as far as its sizes and hashes hold.
inline constexpr std::string_view kManifestName = "muster-checkpoint.json";

struct ManifestFile {
  std::string name;  // below the folder: "state/rank-00000-of-00002.safetensors"
  std::uint64_t bytes = 0;
  std::string hash;  // XXH3-128 of its bytes, 32 hexadecimal digits

  bool operator==(const ManifestFile&) const = default;
};

struct CheckpointManifest {
  std::uint64_t step = 0, tokens = 0, seed = 0, pack_digest = 0, skipped = 0;  // of the cursor
  std::uint64_t plan_digest = 0;
  std::uint64_t world = 0;  // ranks that wrote it
  bool exact = false;       // master weights and moments too
  std::vector<ManifestFile> files;

  bool operator==(const CheckpointManifest&) const = default;
};

std::string encode_checkpoint_manifest(const CheckpointManifest& manifest);
// Errc::corrupt or Errc::invalid_input for what is none; names that lead out of the folder, or
// stand twice, are refused.
Result<CheckpointManifest> decode_checkpoint_manifest(std::string_view bytes);

}  // namespace muster::checkpoint
