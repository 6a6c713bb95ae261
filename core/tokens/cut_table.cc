#include "core/tokens/cut_table.h"

#include <algorithm>
#include <utility>

namespace muster::tokens {
namespace {

using Pairs = std::vector<std::array<std::uint32_t, 2>>;

}  // namespace

// Whether a merge crosses the border between two reachable tokens before they are whole.
bool CutTable::crossed(std::uint32_t left, std::uint32_t right, const MergeTable& merges) const {
  Border border{left, right, 0};
  while (back(border)) {
    if (merges.rank(border.left, border.right) < border.limit) return true;
  }
  return false;
}

// Which tokens are reachable, and how. False where one is too deep.
bool CutTable::derive(const MergeTable& merges, const Pairs& pairs) {
  std::vector<std::uint32_t> left_depth(tokens_.size()), right_depth(tokens_.size());
  for (std::uint32_t rank = 0; rank < pairs.size(); ++rank) {
    const auto [left, right] = pairs[rank];
    const std::uint32_t made = merges.product(rank);
    if (tokens_[left].bytes == 0 || tokens_[right].bytes == 0 || tokens_[made].bytes != 0) continue;
    if (crossed(left, right, merges)) continue;
    tokens_[made].sides = static_cast<std::uint64_t>(rank + 1) << 2 * kIdBits |
                          static_cast<std::uint64_t>(left) << kIdBits | right;
    tokens_[made].bytes = tokens_[left].bytes + tokens_[right].bytes;
    left_depth[made] = left_depth[left] + 1;
    right_depth[made] = right_depth[right] + 1;
    if (std::max(left_depth[made], right_depth[made]) > kDeepest) return false;
  }
  return true;
}

// False where a token begins with too many others.
bool CutTable::find_shorter(const Vocabulary& vocabulary) {
  for (std::uint32_t id = 0; id < tokens_.size(); ++id) {
    const std::uint32_t size = tokens_[id].bytes;
    if (size > 1) tokens_[id].shorter = trie_->longest(vocabulary.bytes(id).substr(0, size - 1));
  }
  for (std::uint32_t id = 0; id < tokens_.size(); ++id) {
    std::uint32_t prefixes = 0;
    for (std::uint32_t at = id; at != kNone; at = tokens_[at].shorter) {
      if (++prefixes > kPrefixes) return false;
    }
  }
  return true;
}

std::optional<CutTable> CutTable::make(const Vocabulary& vocabulary, const MergeTable& merges,
                                       const Pairs& pairs,
                                       const std::array<std::uint32_t, 256>& byte_ids,
                                       MemoryAdvice advice) {
  CutTable table(vocabulary.ids(), advice);
  std::fill(table.tokens_.begin(), table.tokens_.end(), Token{});
  for (const std::uint32_t id : byte_ids) table.tokens_[id].bytes = 1;
  if (!table.derive(merges, pairs)) return std::nullopt;
  std::vector<TokenTrie::Entry> entries;
  for (std::uint32_t id = 0; id < vocabulary.ids(); ++id) {
    if (table.tokens_[id].bytes != 0) entries.push_back({vocabulary.bytes(id), id});
  }
  table.lowest_.assign(1 << 16, MergeTable::kNone);
  for (std::uint32_t rank = 0; rank < pairs.size(); ++rank) {
    const auto last = static_cast<unsigned char>(vocabulary.bytes(pairs[rank][0]).back());
    const auto first = static_cast<unsigned char>(vocabulary.bytes(pairs[rank][1]).front());
    std::uint32_t& lowest = table.lowest_[static_cast<std::size_t>(last) << 8 | first];
    lowest = std::min(lowest, rank);
  }
  table.reachable_ = entries.size();
  table.trie_ = TokenTrie::make(std::move(entries), advice);
  if (!table.trie_ || !table.find_shorter(vocabulary)) return std::nullopt;
  return table;
}

}  // namespace muster::tokens
