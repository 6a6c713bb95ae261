#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "core/tokens/large_table.h"
#include "core/tokens/piece_cache.h"

namespace muster::tokens {

// Of all pieces of up to 15 bytes that become one id the id, by the key of the cache: what is asked
// when a piece is met for the first time. Shared by all encoders.
class WholePieces {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  WholePieces(std::size_t most, MemoryAdvice advice)
      : slots_(std::bit_ceil(most * 3 / 2 + 2), advice) {}

  void add(std::string_view piece, std::uint32_t id) {
    const auto key = PieceCache::short_key(piece.data(), piece.size(), piece.size());
    std::size_t at = place(key);
    while (slots_[at].key.high != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, id};
  }

  void prefetch(const PieceCache::ShortKey& key) const { __builtin_prefetch(&slots_[place(key)]); }
  std::uint32_t find(const PieceCache::ShortKey& key) const {
    for (std::size_t at = place(key); slots_[at].key.high != 0;
         at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].key.low == key.low && slots_[at].key.high == key.high) return slots_[at].id;
    }
    return kNone;
  }

 private:
  struct Slot {
    PieceCache::ShortKey key;  // its top byte is the size, which is never 0
    std::uint32_t id;
  };

  std::size_t place(const PieceCache::ShortKey& key) const {
    return PieceCache::hash_of(key) & (slots_.size() - 1);
  }

  LargeTable<Slot> slots_;
};

}  // namespace muster::tokens
