#include "base/literal_search.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster {
namespace {

// Beyond five the places are so few that what they cost no longer counts.
constexpr std::size_t kMaxStride = 5;

// How often a byte stands in logs, roughly; only the order matters.
unsigned commonness(char c) {
  if (std::string_view(" etaoinsr0123").find(c) != std::string_view::npos) return 12;
  if (c >= '0' && c <= '9') return 10;
  if (std::string_view("dlcmupgf.:-_/").find(c) != std::string_view::npos) return 6;
  if (c >= 'a' && c <= 'z') return 4;
  if (c >= 'A' && c <= 'Z') return 2;
  return 1;
}

unsigned cost_of(std::string_view key) {
  unsigned cost = 1;
  for (const char c : key) cost *= commonness(c);
  return cost;
}

// Where to take `stride` keys in a row so that they are rarest in sum.
std::size_t best_offset(std::string_view literal, std::size_t stride) {
  constexpr std::size_t kKey = LiteralSearch::kKeyBytes;
  std::size_t best = 0;
  unsigned best_cost = ~0u;
  for (std::size_t from = 0; from + stride + kKey - 1 <= literal.size(); ++from) {
    unsigned cost = 0;
    for (std::size_t i = 0; i < stride; ++i) cost += cost_of(literal.substr(from + i, kKey));
    if (cost < best_cost) {
      best = from;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace

LiteralSearch::LiteralSearch(std::vector<std::string> literals) : literals_(std::move(literals)) {
  MUSTER_CHECK(literals_.size() <= 0xffff, "so many literals are counted in 16 bits");
  std::size_t shortest = kMaxStride + kKeyBytes - 1;
  for (const std::string& literal : literals_) {
    MUSTER_CHECK(literal.size() >= kMinBytes && literal.size() < 256, "the length of a literal");
    shortest = std::min(shortest, literal.size());
  }
  stride_ = shortest - kKeyBytes + 1;
  for (std::size_t i = 0; i < literals_.size(); ++i) {
    const std::size_t from = best_offset(literals_[i], stride_);
    for (std::size_t offset = from; offset < from + stride_; ++offset) {
      const std::uint32_t bytes = load(literals_[i].data() + offset);
      keys_.push_back({bytes, static_cast<std::uint16_t>(i), static_cast<std::uint8_t>(offset)});
      const std::size_t slot = hash(bytes);
      filter_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    }
  }
  std::sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
    return std::pair(a.bytes, a.literal) < std::pair(b.bytes, b.literal);
  });
}

std::size_t LiteralSearch::first_key(std::uint32_t bytes) const {
  const auto found =
      std::lower_bound(keys_.begin(), keys_.end(), bytes,
                       [](const Key& key, std::uint32_t b) { return key.bytes < b; });
  return static_cast<std::size_t>(found - keys_.begin());
}

}  // namespace muster
