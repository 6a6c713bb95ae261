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

  // `text` is not empty.
  std::uint32_t longest(std::string_view text) const {
    const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (text.size() == 1) return bytes_[byte(0)];
    Place here = pairs_[static_cast<std::size_t>(byte(0)) << 8 | byte(1)];
    for (std::size_t i = 2; i < text.size(); ++i) {
      const Place next = places_[here.base ^ byte(i)];
      if (next.token >> kIdBits != (kTaken | byte(i))) break;
      here = next;
    }
    return here.token & kIdMask;
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

  LargeTable<Place> places_;
  std::vector<Place> pairs_;          // behind each two bytes
  std::vector<std::uint32_t> bytes_;  // tokens of single bytes
};

}  // namespace muster::tokens
