#include "core/tokens/char_tokens.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace muster::tokens {
namespace {

// Lowest ranks of the merges of a token as the right side and as the left one, by whether the other
// side touches it with an ASCII byte or with another.
struct Edges {
  std::uint32_t as_right[2] = {MergeTable::kNone, MergeTable::kNone};
  std::uint32_t as_left[2] = {MergeTable::kNone, MergeTable::kNone};
};

bool is_high(char byte) {
  return static_cast<unsigned char>(byte) >= 0x80;
}

// The merging of one character alone, and what its edges were on the way.
struct Derivation {
  std::uint32_t token = Vocabulary::kNone;
  std::uint32_t last_rank = 0;
  std::vector<std::uint32_t> left_edges, right_edges;
};

Derivation derive(std::string_view bytes, const MergeTable& merges,
                  const std::array<std::uint32_t, 256>& byte_ids) {
  Derivation out;
  std::vector<std::uint32_t> symbols;
  for (const char c : bytes) symbols.push_back(byte_ids[static_cast<unsigned char>(c)]);
  while (true) {
    out.left_edges.push_back(symbols.front());
    out.right_edges.push_back(symbols.back());
    std::size_t best = 0;
    std::uint32_t rank = MergeTable::kNone;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const std::uint32_t here = merges.rank(symbols[i], symbols[i + 1]);
      if (here < rank) {
        rank = here;
        best = i;
      }
    }
    if (rank == MergeTable::kNone) break;
    out.last_rank = std::max(out.last_rank, rank);
    symbols[best] = merges.product(rank);
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  if (symbols.size() == 1) out.token = symbols.front();
  return out;
}

}  // namespace

CharTokens::CharTokens(const Vocabulary& vocabulary, const MergeTable& merges,
                       const std::vector<std::array<std::uint32_t, 2>>& pairs,
                       const std::array<std::uint32_t, 256>& byte_ids) {
  std::vector<Edges> edges(vocabulary.ids());
  for (std::uint32_t rank = 0; rank < pairs.size(); ++rank) {
    const auto [left, right] = pairs[rank];
    std::uint32_t& right_side = edges[right].as_right[is_high(vocabulary.bytes(left).back())];
    std::uint32_t& left_side = edges[left].as_left[is_high(vocabulary.bytes(right).front())];
    right_side = std::min(right_side, rank);
    left_side = std::min(left_side, rank);
  }
  for (std::uint32_t id = 0; id < vocabulary.ids(); ++id) {
    if (!vocabulary.has(id)) continue;
    const std::string_view bytes = vocabulary.bytes(id);
    std::uint32_t point = 0;
    if (bytes.size() < 2 || bytes.size() > 4 || take_character(bytes, point) != bytes.size()) {
      continue;
    }
    const Derivation d = derive(bytes, merges, byte_ids);
    if (d.token != id) continue;
    std::uint32_t marks = kBehindAscii | kBehindHigh | kBeforeAscii | kBeforeHigh;
    for (const std::uint32_t edge : d.left_edges) {
      if (edges[edge].as_right[0] <= d.last_rank) marks &= ~kBehindAscii;
      if (edges[edge].as_right[1] <= d.last_rank) marks &= ~kBehindHigh;
    }
    for (const std::uint32_t edge : d.right_edges) {
      if (edges[edge].as_left[0] <= d.last_rank) marks &= ~kBeforeAscii;
      if (edges[edge].as_left[1] <= d.last_rank) marks &= ~kBeforeHigh;
    }
    set(point, id | marks);
  }
}

void CharTokens::set(std::uint32_t point, std::uint32_t value) {
  std::uint16_t& page = index_[point >> 6];
  if (page == 0) {
    page = static_cast<std::uint16_t>(pages_.size() >> 6);
    pages_.resize(pages_.size() + 64);
  }
  pages_[static_cast<std::size_t>(page) << 6 | (point & 0x3F)] = value;
}

}  // namespace muster::tokens
