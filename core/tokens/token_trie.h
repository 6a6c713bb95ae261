#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/tokens/large_table.h"

namespace muster::tokens {

// The longest token that a text begins with.
//
// A trie in one array: the child of a node for a byte stands at the node's base, with the byte
// exclusive-or'd into it, and says which byte it is for; no two nodes have one base. Each place
// also holds the longest token on the way to it, so that a walk keeps nothing but where it is. The
// first two bytes are one look.
class TokenTrie {
 public:
  struct Entry {
    std::string_view bytes;  // not empty
    std::uint32_t id;        // below 2^21
  };
  // `entries` have different bytes, and each of the 256 single bytes is among them. Nothing where
  // the array would outgrow kMost places: no known vocabulary needs a tenth.
  static std::optional<TokenTrie> make(std::vector<Entry> entries, MemoryAdvice advice);

  // A walk down the trie along a text, byte by byte.
  class Walk {
   public:
    // The longest token so far.
    std::uint32_t token() const { return token_ & kIdMask; }

   private:
    friend class TokenTrie;
    std::uint32_t base_ = 0, token_ = 0;
    std::size_t bytes_ = 0;
  };
  // `text` is not empty.
  Walk begin(std::string_view text) const {
    Walk walk;
    if (text.size() == 1) {
      walk.token_ = bytes_[byte_of(text, 0)];
      walk.bytes_ = 1;
      return walk;
    }
    const Place& pair = pairs_[static_cast<std::size_t>(byte_of(text, 0)) << 8 | byte_of(text, 1)];
    move(text, pair, 2, walk);
    return walk;
  }
  // False where the walk is over.
  bool step(std::string_view text, Walk& walk) const {
    if (walk.bytes_ >= text.size()) return false;
    const std::uint32_t byte = byte_of(text, walk.bytes_);
    const Place& next = places_[walk.base_ ^ byte];
    if (next.token >> kIdBits != (kTaken | byte)) return false;
    move(text, next, walk.bytes_ + 1, walk);
    return true;
  }
  std::uint32_t longest(std::string_view text) const {
    Walk walk = begin(text);
    while (step(text, walk)) {
    }
    return walk.token();
  }

  static constexpr std::size_t kMost = std::size_t{1} << 24;

 private:
  friend class TrieMaker;
  static constexpr unsigned kIdBits = 21;
  static constexpr std::uint32_t kIdMask = (1u << kIdBits) - 1, kTaken = 1u << 10;
  struct Place {
    std::uint32_t base = 0;   // 0: no children; the places from 0 to 255 are never taken
    std::uint32_t token = 0;  // above its id the byte that leads here, and kTaken
  };

  TokenTrie(const std::vector<Place>& places, MemoryAdvice advice);

  static std::uint32_t byte_of(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
  }
  void move(std::string_view text, const Place& place, std::size_t bytes, Walk& walk) const {
    walk.base_ = place.base;
    walk.token_ = place.token;
    walk.bytes_ = bytes;
    if (bytes < text.size()) __builtin_prefetch(&places_[place.base ^ byte_of(text, bytes)]);
  }

  LargeTable<Place> places_;
  std::vector<Place> pairs_;          // behind each two bytes
  std::vector<std::uint32_t> bytes_;  // tokens of single bytes
};

}  // namespace muster::tokens
