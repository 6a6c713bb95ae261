#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::tokens {

// What a processor may have for looking at many bytes at once.
enum class Simd : std::uint8_t { none, avx2, avx512 };
Simd best_simd();

// The classes of up to kWindow bytes of a text, one bit a byte, 64 in a word. All bytes of a
// character have its bits. Behind the window all bits are zero.
struct ClassMasks {
  static constexpr std::size_t kWindow = 2048, kWords = kWindow / 64;
  using Words = std::array<std::uint64_t, kWords>;
  Words letter, number, blank;
  Words newline, space, apostrophe;  // CR or LF, U+0020, U+0027
  Words inner;                       // bytes that are not the first of their character
};

// Classes of `size` bytes (at most kWindow, ending where a character ends) of `text` from `at` on.
// `text` is valid UTF-8. `simd` must be one that the processor has, and not none.
void classify(Simd simd, std::string_view text, std::size_t at, std::size_t size, ClassMasks& out);

}  // namespace muster::tokens
