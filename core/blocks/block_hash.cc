#include "core/blocks/block_hash.h"

#include <fmt/core.h>

#define XXH_INLINE_ALL  // its dispatch by type is in the header; the library would add a dependency
#include <xxhash.h>

#include "base/check.h"
#include "base/memory_bytes.h"
#include "base/text.h"

namespace muster::blocks {

namespace {

Hash128 of(const XXH128_hash_t& hash) {
  return {hash.high64, hash.low64};
}

}  // namespace

struct RunningHash::State {
  XXH3_state_t xxh;
};

RunningHash::RunningHash() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
RunningHash::~RunningHash() = default;

void RunningHash::add(std::string_view bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Hash128 RunningHash::value() const {
  return of(XXH3_128bits_digest(&state_->xxh));
}

std::uint64_t hash_block(std::span<const std::int32_t> ids) {
  return XXH3_64bits(ids.data(), ids.size_bytes());
}

Hash128 hash_bytes(std::string_view bytes) {
  return of(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string hash_text(const Hash128& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

Result<Hash128> parse_hash(std::string_view text) {
  const auto half = [](std::string_view digits) -> std::optional<std::uint64_t> {
    for (const char c : digits) {
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return std::nullopt;
    }
    return parse_hex("0x" + std::string(digits));
  };
  if (text.size() == 32) {
    const auto high = half(text.substr(0, 16)), low = half(text.substr(16));
    if (high && low) return Hash128{*high, *low};
  }
  return make_error(Errc::invalid_input, "a hash is 32 lower-case hexadecimal digits");
}

Hash128 hash_group(std::span<const std::uint64_t> block_hashes) {
  MUSTER_CHECK(!block_hashes.empty() && block_hashes.size() <= kGroupBlocks, "one group");
  return of(XXH3_128bits(block_hashes.data(), block_hashes.size_bytes()));
}

Hash128 hash_root(std::span<const Hash128> groups) {
  RunningHash out;
  for (const Hash128& group : groups) {
    // The high half first, each little-endian: as Hash128 lies in memory.
    const std::uint64_t halves[] = {group.high, group.low};
    out.add(memory_bytes(std::span<const std::uint64_t>(halves)));
  }
  return out.value();
}

}  // namespace muster::blocks
