#include "core/tokens/token_trie.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace muster::tokens {

// Places children in blocks of 256 places, which no base leaves.
class TrieMaker {
 public:
  using Entry = TokenTrie::Entry;
  using Place = TokenTrie::Place;

  explicit TrieMaker(std::vector<Entry> entries) : entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.bytes < b.bytes; });
  }

  // False where there are too many.
  bool run() {
    todo_.push_back({0, entries_.size(), 0, kRoot, 0});
    while (!todo_.empty()) {
      const Node node = todo_.back();
      todo_.pop_back();
      if (!spread(node)) return false;
    }
    return true;
  }

  // Behind the root: of one byte, of two.
  Place behind(const Place& node, std::size_t byte) const {
    const Place next = places_[node.base ^ byte];
    const bool there = next.token >> TokenTrie::kIdBits == (TokenTrie::kTaken | byte);
    return there ? next : Place{0, node.token};
  }
  const Place& root() const { return places_[kRoot]; }
  const std::vector<Place>& places() const { return places_; }

 private:
  static constexpr std::size_t kRoot = 0, kBlock = 256;
  static constexpr std::size_t kOpen = 16;  // blocks in which a place is looked for

  // Entries from `begin` to `end` go through the place `at`, which is `depth` bytes deep; `token`
  // is the longest on the way.
  struct Node {
    std::size_t begin, end, depth, at;
    std::uint32_t token;
  };
  using Bits = std::array<std::uint64_t, kBlock / 64>;
  struct Block {
    std::size_t at;
    Bits taken, bases;
  };

  static void set(Bits& bits, std::size_t at) { bits[at / 64] |= std::uint64_t{1} << at % 64; }

  // Bit i of the answer is bit i ^ `by` of `bits`.
  static Bits moved(const Bits& bits, unsigned char by) {
    static constexpr std::array<std::uint64_t, 6> kLow = {0x5555555555555555u, 0x3333333333333333u,
                                                          0x0F0F0F0F0F0F0F0Fu, 0x00FF00FF00FF00FFu,
                                                          0x0000FFFF0000FFFFu, 0x00000000FFFFFFFFu};
    Bits out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::uint64_t word = bits[i ^ by / 64u];
      for (unsigned k = 0; k < kLow.size(); ++k) {
        if ((by >> k & 1) == 0) continue;
        word = (word & kLow[k]) << (1u << k) | (word >> (1u << k) & kLow[k]);
      }
      out[i] = word;
    }
    return out;
  }

  bool spread(Node node) {
    if (entries_[node.begin].bytes.size() == node.depth) ++node.begin;
    children_.clear();
    starts_.clear();
    for (std::size_t i = node.begin; i < node.end; ++i) {
      const auto byte = static_cast<unsigned char>(entries_[i].bytes[node.depth]);
      if (!children_.empty() && children_.back() == byte) continue;
      children_.push_back(byte);
      starts_.push_back(i);
    }
    if (children_.empty()) return true;
    starts_.push_back(node.end);
    const std::size_t base = find_base();
    if (base == 0) return false;
    places_[node.at].base = static_cast<std::uint32_t>(base);
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const std::size_t at = base ^ children_[i];
      const Entry& first = entries_[starts_[i]];
      const bool ends = first.bytes.size() == node.depth + 1;
      const std::uint32_t token = ends ? first.id : node.token;
      places_[at].token = token | (TokenTrie::kTaken | children_[i]) << TokenTrie::kIdBits;
      todo_.push_back({starts_[i], starts_[i + 1], node.depth + 1, at, token});
    }
    return true;
  }

  // A base with room for all children, taken for them; 0 where there is none.
  std::size_t find_base() {
    for (Block& block : open_) {
      if (const std::size_t base = base_in(block); base != 0) return base;
    }
    if (open_.size() == kOpen) open_.erase(open_.begin());
    if (places_.size() + kBlock > TokenTrie::kMost) return 0;
    open_.push_back({places_.size(), {}, {}});
    places_.resize(places_.size() + kBlock);
    return base_in(open_.back());
  }

  std::size_t base_in(Block& block) {
    Bits barred = block.bases;
    for (const unsigned char child : children_) {
      const Bits here = moved(block.taken, child);
      for (std::size_t i = 0; i < here.size(); ++i) barred[i] |= here[i];
    }
    const auto word =
        std::find_if(barred.begin(), barred.end(), [](std::uint64_t bits) { return ~bits != 0; });
    if (word == barred.end()) return 0;
    const std::size_t base = static_cast<std::size_t>(word - barred.begin()) * 64 +
                             static_cast<std::size_t>(std::countr_one(*word));
    set(block.bases, base);
    for (const unsigned char child : children_) set(block.taken, base ^ child);
    return block.at + base;
  }

  std::vector<Entry> entries_;
  std::vector<Place> places_ = std::vector<Place>(kBlock);
  std::vector<Node> todo_;
  std::vector<unsigned char> children_;
  std::vector<std::size_t> starts_;
  std::vector<Block> open_;
};

TokenTrie::TokenTrie(const std::vector<Place>& places, MemoryAdvice advice)
    : places_(places.size(), advice), pairs_(1 << 16), bytes_(256) {
  std::copy(places.begin(), places.end(), places_.begin());
}

std::optional<TokenTrie> TokenTrie::make(std::vector<Entry> entries, MemoryAdvice advice) {
  TrieMaker maker(std::move(entries));
  if (!maker.run()) return std::nullopt;
  TokenTrie trie(maker.places(), advice);
  for (std::size_t first = 0; first < 256; ++first) {
    const Place one = maker.behind(maker.root(), first);
    trie.bytes_[first] = one.token & kIdMask;
    for (std::size_t second = 0; second < 256; ++second) {
      trie.pairs_[first << 8 | second] = maker.behind(one, second);
    }
  }
  return trie;
}

}  // namespace muster::tokens
