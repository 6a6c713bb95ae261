#include "core/tokens/piece_splitter.h"

#include "core/tokens/mask_splitter.h"

namespace muster::tokens {
namespace {

// Enough to make a call cheap, and few enough for the nearest cache.
constexpr std::size_t kSome = 256;

}  // namespace

PieceSplitter::PieceSplitter(SplitFamily family, Simd simd)
    : family_(family), simd_(has_mask_split(family) ? simd : Simd::none) {}

std::size_t PieceSplitter::split(std::string_view text, std::size_t at, std::uint32_t* ends) const {
  if (simd_ != Simd::none) {
    if (const std::size_t count = mask_split(family_, simd_, text, at, ends); count > 0)
      return count;
    ends[0] = static_cast<std::uint32_t>(piece_end(family_, text, at));
    return 1;
  }
  std::size_t count = 0;
  while (count < kSome && at < text.size()) {
    at = piece_end(family_, text, at);
    ends[count++] = static_cast<std::uint32_t>(at);
  }
  return count;
}

}  // namespace muster::tokens
