#include "core/tokens/bpe.h"

#include <algorithm>
#include <functional>

namespace muster::tokens {
namespace {

// What one long piece leaves behind is given back.
constexpr std::size_t kKept = 1 << 20;

}  // namespace

Merger::Merger(const MergeTable& merges, const std::array<std::uint32_t, 256>& byte_ids)
    : merges_(merges), byte_ids_(byte_ids) {}

bool Merger::rate(std::uint32_t at) {
  Symbol& symbol = symbols_[at];
  symbol.rank = symbol.behind == kEnd ? MergeTable::kNone
                                      : merges_.rank(symbol.id, symbols_[symbol.behind].id);
  if (symbol.rank == MergeTable::kNone) return false;
  heap_.push_back(static_cast<std::uint64_t>(symbol.rank) << 32 | at);
  return true;
}

void Merger::join(std::uint32_t at) {
  Symbol& symbol = symbols_[at];
  const std::uint32_t gone = symbol.behind;
  symbol.id = merges_.product(symbol.rank);
  symbol.behind = symbols_[gone].behind;
  if (symbol.behind != kEnd) symbols_[symbol.behind].before = at;
  symbols_[gone].rank = MergeTable::kNone;
  for (const std::uint32_t changed : {symbol.before, at}) {
    if (changed != kEnd && rate(changed)) {
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

void Merger::merge(std::string_view piece, std::vector<std::uint32_t>& ids) {
  if (symbols_.size() > kKept) {
    symbols_ = {};
    heap_ = {};
  }
  const auto count = static_cast<std::uint32_t>(piece.size());
  symbols_.resize(count);
  heap_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols_[i] = {byte_ids_[static_cast<unsigned char>(piece[i])], i == 0 ? kEnd : i - 1,
                   i + 1 == count ? kEnd : i + 1, MergeTable::kNone};
  }
  for (std::uint32_t i = 0; i < count; ++i) rate(i);
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  while (!heap_.empty()) {
    const std::uint64_t top = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    const auto at = static_cast<std::uint32_t>(top);
    if (symbols_[at].rank == top >> 32) join(at);
  }
  for (std::uint32_t at = 0; at != kEnd; at = symbols_[at].behind) ids.push_back(symbols_[at].id);
}

}  // namespace muster::tokens
