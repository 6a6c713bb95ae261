#include "core/tokens/bpe.h"

#include <algorithm>
#include <functional>

#include "core/tokens/unicode_class.h"

namespace muster::tokens {
namespace {

// Up to here a look at all ranks is cheaper than a heap.
constexpr std::size_t kShort = 96;
constexpr unsigned kPlaceBits = 7;
constexpr std::size_t kPlaces = 1u << kPlaceBits;
static_assert(kShort <= kPlaces);
constexpr std::uint32_t kNoKey = MergeTable::kNone << kPlaceBits;

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

}  // namespace

Merger::Merger(const MergeTable& merges, const std::array<std::uint32_t, 256>& byte_ids,
               const CharTokens* chars)
    : merges_(merges), byte_ids_(byte_ids), chars_(chars) {}

Merger::Ids Merger::merge(std::string_view piece) {
  start(piece);
  count_ <= kShort ? merge_short() : merge_long();
  return {symbols_.data(), count_};
}

void Merger::start(std::string_view piece) {
  if (symbols_.size() < piece.size()) symbols_.resize(piece.size() * 2);
  std::uint32_t* out = symbols_.data();
  for (std::size_t at = 0; at < piece.size();) {
    if (is_ascii(piece[at]) || chars_ == nullptr) {
      *out++ = byte_ids_[static_cast<unsigned char>(piece[at++])];
      continue;
    }
    const Decoded c = decode_valid(piece.data() + at);
    const std::uint32_t token = chars_->at(c.point);
    const std::size_t end = at + c.bytes;
    std::uint32_t needed = 0;
    if (at > 0) needed |= CharTokens::mark_before(static_cast<unsigned char>(piece[at - 1]));
    if (end < piece.size()) {
      needed |= CharTokens::mark_behind(static_cast<unsigned char>(piece[end]));
    }
    if (token != 0 && (token & needed) == needed) {
      *out++ = token & CharTokens::kIdMask;
      at = end;
    } else {
      for (; at < end; ++at) *out++ = byte_ids_[static_cast<unsigned char>(piece[at])];
    }
  }
  count_ = static_cast<std::size_t>(out - symbols_.data());
}

void Merger::merge_short() {
  // Symbols stay in their places; a key is the rank of one with the next, and its place.
  std::uint32_t keys[kShort];
  std::uint8_t before[kShort], behind[kShort];
  std::uint32_t* const ids = symbols_.data();
  const std::size_t last = count_ - 1;
  const auto rate = [&](std::size_t at, std::size_t next) {
    keys[at] = merges_.rank(ids[at], ids[next]) << kPlaceBits | static_cast<std::uint32_t>(at);
  };
  for (std::size_t i = 0; i < last; ++i) {
    rate(i, i + 1);
    before[i + 1] = static_cast<std::uint8_t>(i);
    behind[i] = static_cast<std::uint8_t>(i + 1);
  }
  behind[last] = static_cast<std::uint8_t>(count_);
  for (std::size_t left = last; left > 0; --left) {
    std::uint32_t best = kNoKey;
    for (std::size_t i = 0; i < last; ++i) best = std::min(best, keys[i]);
    if (best >= kNoKey) break;
    const std::size_t at = best & (kPlaces - 1);
    const std::size_t gone = behind[at];
    const std::size_t next = behind[gone];
    ids[at] = merges_.product(best >> kPlaceBits);
    behind[at] = static_cast<std::uint8_t>(next);
    keys[at] = keys[gone] = kNoKey;
    if (next < count_) {
      before[next] = static_cast<std::uint8_t>(at);
      rate(at, next);
    }
    if (at > 0) rate(before[at], at);
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at < count_; at = behind[at]) ids[kept++] = ids[at];
  count_ = kept;
}

void Merger::rate(std::uint32_t at, std::vector<std::uint64_t>& heap) {
  Link& link = links_[at];
  link.rank = link.behind == kEnd ? MergeTable::kNone
                                  : merges_.rank(symbols_[at], symbols_[link.behind]);
  if (link.rank == MergeTable::kNone) return;
  heap.push_back(static_cast<std::uint64_t>(link.rank) << 32 | at);
}

void Merger::join(std::uint32_t at, std::vector<std::uint64_t>& heap) {
  const std::uint32_t gone = links_[at].behind;
  symbols_[at] = merges_.product(links_[at].rank);
  links_[at].behind = links_[gone].behind;
  if (links_[at].behind != kEnd) links_[links_[at].behind].before = at;
  links_[gone].rank = MergeTable::kNone;
  const std::uint32_t before = links_[at].before;
  for (const std::uint32_t changed : {before, at}) {
    if (changed == kEnd) continue;
    rate(changed, heap);
    if (links_[changed].rank != MergeTable::kNone) {
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  }
}

// Entries of the heap are a rank and a place; one whose place has another rank by now is stale.
void Merger::merge_long() {
  links_.resize(count_);
  heap_.clear();
  for (std::uint32_t i = 0; i < count_; ++i) {
    links_[i] = {i == 0 ? kEnd : i - 1, i + 1 == count_ ? kEnd : i + 1, MergeTable::kNone};
    rate(i, heap_);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  while (!heap_.empty()) {
    const std::uint64_t top = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    const auto at = static_cast<std::uint32_t>(top);
    if (links_[at].rank == top >> 32) join(at, heap_);
  }
  std::size_t kept = 0;
  for (std::uint32_t at = 0; at != kEnd; at = links_[at].behind) symbols_[kept++] = symbols_[at];
  count_ = kept;
}

}  // namespace muster::tokens
