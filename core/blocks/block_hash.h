#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

// Hashes of a pack, in three levels, so that any block can be checked by reading it, the hashes of
// its group and the manifest, and a damaged one is named:
//
//   block   XXH3-64 of its L * 4 bytes; hashes.u64 holds them in order, little-endian
//   group   XXH3-128 of the bytes of hashes.u64 of kGroupBlocks blocks (64 KiB); in the manifest
//   root    XXH3-128 of the groups' 16 bytes each, in order
//
// They tell damage, mixed files and different data; they are no defence against somebody who wants
// two packs to look alike. XXH3 in its canonical form: https://github.com/Cyan4973/xxHash.

namespace muster::blocks {

// 64 MiB of blocks of 2048 tokens. A pack of 16 TB has 250,000 groups: 9 MB of manifest.
inline constexpr std::uint64_t kGroupBlocks = 8192;

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Hash128&) const = default;
};

std::uint64_t hash_block(std::span<const std::int32_t> ids);
Hash128 hash_bytes(std::string_view bytes);
// 32 lower-case hexadecimal digits, the high half first.
std::string hash_text(const Hash128& hash);
// Errc::invalid_input for anything else.
Result<Hash128> parse_hash(std::string_view text);

// Of block hashes of one group, in order: 1 to kGroupBlocks of them.
Hash128 hash_group(std::span<const std::uint64_t> block_hashes);
Hash128 hash_root(std::span<const Hash128> groups);
constexpr std::uint64_t groups_of(std::uint64_t blocks) {
  return blocks / kGroupBlocks + (blocks % kGroupBlocks != 0 ? 1 : 0);
}

// The hash of a stream of bytes that comes in pieces.
class RunningHash {
 public:
  RunningHash();
  ~RunningHash();
  RunningHash(const RunningHash&) = delete;
  RunningHash& operator=(const RunningHash&) = delete;
  void add(std::string_view bytes);
  Hash128 value() const;

 private:
  struct State;  // of xxHash, whose header stays in the .cc
  std::unique_ptr<State> state_;
};

}  // namespace muster::blocks
