#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/tokens/class_masks.h"
#include "core/tokens/splitter.h"

namespace muster::tokens {

// Many pieces at once, by the fastest way that there is for the family and the processor: class
// masks (mask_splitter.h), or piece by piece. All ways give the same pieces.
class PieceSplitter {
 public:
  // `simd`: what may be used of it; the processor must have it.
  explicit PieceSplitter(SplitFamily family, Simd simd = best_simd());

  // Ends that `ends` of split() needs room for.
  static constexpr std::size_t kMost = ClassMasks::kWindow;
  // Writes the ends of pieces from `at` on (a border of pieces before the end of the text), at
  // least one; returns how many.
  std::size_t split(std::string_view text, std::size_t at, std::uint32_t* ends) const;

 private:
  SplitFamily family_;
  Simd simd_;
};

}  // namespace muster::tokens
