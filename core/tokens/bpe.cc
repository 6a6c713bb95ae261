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
constexpr std::int32_t kNoKey = static_cast<std::int32_t>(MergeTable::kNone << kPlaceBits);

// Keys are looked at in rows of so many, whole ones only: no branch then depends on the piece.
constexpr std::size_t kRow = 16;
static_assert(kRow >= Merger::kReadable);

// What one long piece leaves behind is given back.
constexpr std::size_t kKept = 1 << 20;

}  // namespace

Merger::Merger(const MergeTable& merges, const std::array<std::uint32_t, 256>& byte_ids,
               const CharTokens* chars)
    : merges_(merges), byte_ids_(byte_ids), chars_(chars) {}

void Merger::clear() {
  lanes_.clear();
  used_ = 0;
  if (symbols_.size() <= kKept) return;
  symbols_ = {};
  keys_ = {};
  for (auto* bytes : {&before_, &behind_}) *bytes = {};
  links_ = {};
  heap_ = {};
}

std::size_t Merger::add(std::string_view piece) {
  if (symbols_.size() < used_ + piece.size() + kRow) {
    const std::size_t room = (used_ + piece.size()) * 3 / 2 + 4 * kRow;
    symbols_.resize(room);
    keys_.resize(room);
    before_.resize(room);
    behind_.resize(room);
  }
  std::uint32_t* const begin = symbols_.data() + used_;
  std::uint32_t* out = begin;
  for (std::size_t at = 0; at < piece.size();) {
    const auto byte = static_cast<unsigned char>(piece[at]);
    if (byte < 0x80 || chars_ == nullptr) {
      *out++ = byte_ids_[byte];
      ++at;
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
  for (const std::uint32_t* id = begin; id + 1 < out; ++id) {
    if (!MergeTable::is_low(id[0], id[1])) merges_.prefetch(id[0], id[1]);
  }
  const auto count = static_cast<std::size_t>(out - begin);
  lanes_.push_back({used_, count});
  used_ += (count + kRow - 1) / kRow * kRow;
  return lanes_.size() - 1;
}

void Merger::run() {
  active_.clear();
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].count > kShort) {
      merge_long(lanes_[i]);
    } else if (lanes_[i].count > 1) {
      begin_short(lanes_[i]);
      active_.push_back(i);
    }
  }
  while (!active_.empty()) {
    std::size_t kept = 0;
    for (const std::uint32_t i : active_) {
      if (step_short(lanes_[i])) active_[kept++] = i;
    }
    active_.resize(kept);
  }
}

// The key of the pair of two symbols, of which the first stands at `at`.
std::int32_t Merger::key_of(std::uint32_t left, std::uint32_t right, std::size_t at) const {
  return static_cast<std::int32_t>(merges_.rank(left, right) << kPlaceBits |
                                   static_cast<std::uint32_t>(at));
}

void Merger::begin_short(const Lane& lane) {
  const std::uint32_t* const ids = symbols_.data() + lane.begin;
  std::int32_t* const keys = keys_.data() + lane.begin;
  for (std::size_t i = 0; i < lane.count; ++i) {
    before_[lane.begin + i] = static_cast<std::uint8_t>(i - 1);
    behind_[lane.begin + i] = static_cast<std::uint8_t>(i + 1);
  }
  for (std::size_t i = 0; i + 1 < lane.count; ++i) {
    keys[i] = MergeTable::is_low(ids[i], ids[i + 1])
                  ? static_cast<std::int32_t>(merges_.low_rank(ids[i], ids[i + 1]) << kPlaceBits |
                                              static_cast<std::uint32_t>(i))
                  : key_of(ids[i], ids[i + 1], i);
  }
  const std::size_t padded = (lane.count + kRow - 1) / kRow * kRow;
  std::fill(keys + lane.count - 1, keys + padded, kNoKey);
}

// One merge; false where nothing joins any more.
bool Merger::step_short(Lane& lane) {
  std::uint32_t* const ids = symbols_.data() + lane.begin;
  std::int32_t* const keys = keys_.data() + lane.begin;
  std::uint8_t* const before = before_.data() + lane.begin;
  std::uint8_t* const behind = behind_.data() + lane.begin;
  if (lane.changed != kNone) {
    const std::size_t at = lane.changed;
    const std::size_t next = behind[at];
    if (next < lane.count) keys[at] = key_of(ids[at], ids[next], at);
    if (at > 0) keys[before[at]] = key_of(ids[before[at]], ids[at], before[at]);
  }
  std::int32_t best = kNoKey;
  for (std::size_t i = 0; i < lane.count; i += kRow) {
    for (std::size_t k = 0; k < kRow; ++k) best = std::min(best, keys[i + k]);
  }
  if (best >= kNoKey) {
    std::size_t kept = 0;
    for (std::size_t at = 0; at < lane.count; at = behind[at]) ids[kept++] = ids[at];
    lane.count = kept;
    return false;
  }
  const std::size_t at = static_cast<std::size_t>(best) & (kPlaces - 1);
  const std::size_t gone = behind[at], next = behind[gone];
  ids[at] = merges_.product(static_cast<std::uint32_t>(best) >> kPlaceBits);
  behind[at] = static_cast<std::uint8_t>(next);
  keys[at] = keys[gone] = kNoKey;
  if (next < lane.count) {
    before[next] = static_cast<std::uint8_t>(at);
    merges_.prefetch(ids[at], ids[next]);
  }
  if (at > 0) merges_.prefetch(ids[before[at]], ids[at]);
  lane.changed = at;
  return true;
}

bool Merger::rate_long(const std::uint32_t* symbols, std::uint32_t at) {
  Link& link = links_[at];
  link.rank =
      link.behind == kEnd ? MergeTable::kNone : merges_.rank(symbols[at], symbols[link.behind]);
  if (link.rank == MergeTable::kNone) return false;
  heap_.push_back(static_cast<std::uint64_t>(link.rank) << 32 | at);
  return true;
}

void Merger::join_long(std::uint32_t* symbols, std::uint32_t at) {
  const std::uint32_t gone = links_[at].behind;
  symbols[at] = merges_.product(links_[at].rank);
  links_[at].behind = links_[gone].behind;
  if (links_[at].behind != kEnd) links_[links_[at].behind].before = at;
  links_[gone].rank = MergeTable::kNone;
  const std::uint32_t before = links_[at].before;
  for (const std::uint32_t changed : {before, at}) {
    if (changed != kEnd && rate_long(symbols, changed)) {
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

// Entries of the heap are a rank and a place; one whose place has another rank by now is stale.
void Merger::merge_long(Lane& lane) {
  std::uint32_t* const symbols = symbols_.data() + lane.begin;
  const auto count = static_cast<std::uint32_t>(lane.count);
  links_.resize(count);
  heap_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    links_[i] = {i == 0 ? kEnd : i - 1, i + 1 == count ? kEnd : i + 1, MergeTable::kNone};
    rate_long(symbols, i);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  while (!heap_.empty()) {
    const std::uint64_t top = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    const auto at = static_cast<std::uint32_t>(top);
    if (links_[at].rank == top >> 32) join_long(symbols, at);
  }
  std::size_t kept = 0;
  for (std::uint32_t at = 0; at != kEnd; at = links_[at].behind) symbols[kept++] = symbols[at];
  lane.count = kept;
}

}  // namespace muster::tokens
