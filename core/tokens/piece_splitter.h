#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/tokens/splitter.h"

namespace muster::tokens {

// Many pieces at once, by the fastest way that this processor has for the family: class masks of 64
// bytes with AVX-512 or AVX2 (qwen2, llama3), else piece by piece. All ways give the same pieces.
class PieceSplitter {
 public:
  enum class Way : std::uint8_t { plain, avx2, avx512 };

  explicit PieceSplitter(SplitFamily family) : PieceSplitter(family, best_way()) {}
  // For tests: Errors are ours, `way` must be one that this processor has.
  PieceSplitter(SplitFamily family, Way way);

  static Way best_way();

  // Writes the ends of the pieces from `at` on (a border of pieces, before the end of the text),
  // at least one and at most `room`; returns how many.
  std::size_t split(std::string_view text, std::size_t at, std::uint32_t* ends,
                    std::size_t room) const;

 private:
  SplitFamily family_;
  Way way_;
};

}  // namespace muster::tokens
