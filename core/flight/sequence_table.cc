#include "core/flight/sequence_table.h"

#define XXH_INLINE_ALL  // short keys: the call would cost more than the hash
#include <xxhash.h>

#include <algorithm>

namespace muster {
namespace {

constexpr std::uint32_t kFree = UINT32_MAX;
constexpr std::size_t kFirstSlots = 256;     // a dump has some 20 signatures and 20 stacks
constexpr std::size_t kKeptWords = 1 << 20;  // between files

}  // namespace

void SequenceTable::reset() {
  words_.clear();
  rows_.clear();
  if (words_.capacity() > kKeptWords) words_.shrink_to_fit();
  if (rows_.capacity() > kKeptWords) rows_.shrink_to_fit();
  if (slots_.empty() || slots_.size() > kKeptWords) {
    slots_ = std::vector<std::uint32_t>(kFirstSlots, kFree);
  } else {
    std::fill(slots_.begin(), slots_.end(), kFree);
  }
}

std::uint32_t SequenceTable::intern(std::span<const std::int64_t> words) {
  const std::uint64_t hash = XXH3_64bits(words.data(), words.size_bytes());
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t id = slots_[slot];
    if (rows_[id].hash == hash && std::ranges::equal((*this)[id], words)) return id;
  }
  const auto id = static_cast<std::uint32_t>(rows_.size());
  rows_.push_back({words_.size(), words.size(), hash});
  words_.insert(words_.end(), words.begin(), words.end());
  slots_[slot] = id;
  if (rows_.size() * 2 > slots_.size()) grow();
  return id;
}

void SequenceTable::grow() {
  slots_ = std::vector<std::uint32_t>(slots_.size() * 4, kFree);
  for (std::uint32_t id = 0; id < rows_.size(); ++id) {
    std::size_t slot = rows_[id].hash & (slots_.size() - 1);
    while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = id;
  }
}

}  // namespace muster
