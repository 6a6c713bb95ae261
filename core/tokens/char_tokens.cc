#include "core/tokens/char_tokens.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "base/text.h"

namespace muster::tokens {
namespace {

// Of a token: its merges as the right side and as the left one, the lowest rank for each kind of
// what touches it across a border of characters. A side that ends or begins within a character
// cannot.
struct Edges {
  static constexpr std::size_t kKinds = 9;
  std::array<std::uint32_t, kKinds> lowest;

  Edges() { lowest.fill(MergeTable::kNone); }
  void add(std::uint32_t mark, std::uint32_t rank) {
    std::uint32_t& here = lowest[static_cast<std::size_t>(std::countr_zero(mark) - 21)];
    here = std::min(here, rank);
  }
  // The kinds that join at or below `rank`.
  std::uint32_t joined_by(std::uint32_t rank) const {
    std::uint32_t marks = 0;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      if (lowest[kind] <= rank) marks |= 1u << (21 + kind);
    }
    return marks;
  }
};

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
  std::vector<Edges> as_right(vocabulary.ids()), as_left(vocabulary.ids());
  for (std::uint32_t rank = 0; rank < pairs.size(); ++rank) {
    const auto [left, right] = pairs[rank];
    const auto last = static_cast<unsigned char>(vocabulary.bytes(left).back());
    const auto first = static_cast<unsigned char>(vocabulary.bytes(right).front());
    if (last < 0xC0) as_right[right].add(mark_before(last), rank);
    if (first < 0x80 || first >= 0xC0) as_left[left].add(mark_behind(first), rank);
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
    std::uint32_t marks = kMarks;
    for (const std::uint32_t edge : d.left_edges) marks &= ~as_right[edge].joined_by(d.last_rank);
    for (const std::uint32_t edge : d.right_edges) marks &= ~as_left[edge].joined_by(d.last_rank);
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
