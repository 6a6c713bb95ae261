#include "core/tokens/class_masks.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "core/tokens/unicode_class.h"

namespace muster::tokens {
namespace {

// Of 64 bytes.
struct ByteMasks {
  std::uint64_t letter, number, blank, newline, space, apostrophe;  // ASCII
  std::uint64_t high, inner;
  std::uint64_t sure;  // first bytes of three that are a letter: Han and Hangul, most of them
};

// First bytes 0xE5 to 0xE9, 0xEB and 0xEC are U+5000 to U+9FFF and U+B000 to U+CFFF: letters, all
// of them. 0xE4 is, but for the hexagrams (0xB7 behind it); 0xEA is from U+AC00 on (0xB0), 0xED up
// to U+D77F (0x9D).

__attribute__((target("avx2"))) std::uint32_t bits(__m256i mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(mask));
}

__attribute__((target("avx2"))) __m256i at_most(__m256i v, char most) {
  return _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(most)), v);
}

__attribute__((target("avx2"))) __m256i equal(__m256i v, char byte) {
  return _mm256_cmpeq_epi8(v, _mm256_set1_epi8(byte));
}

__attribute__((target("avx2"))) __m256i minus(__m256i v, char byte) {
  return _mm256_sub_epi8(v, _mm256_set1_epi8(byte));
}

__attribute__((target("avx2"))) __m256i sure_letters(__m256i v, const char* p) {
  const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 1));
  const __m256i e5_to_e9 = at_most(minus(v, '\xE5'), 4);
  const __m256i eb_or_ec = at_most(minus(v, '\xEB'), 1);
  const __m256i e4 = _mm256_andnot_si256(equal(next, '\xB7'), equal(v, '\xE4'));
  const __m256i ea = _mm256_and_si256(equal(v, '\xEA'), at_most(minus(next, '\xB0'), 0x0F));
  const __m256i ed = _mm256_and_si256(equal(v, '\xED'), at_most(next, '\x9D'));
  return _mm256_or_si256(_mm256_or_si256(e5_to_e9, eb_or_ec),
                         _mm256_or_si256(e4, _mm256_or_si256(ea, ed)));
}

__attribute__((target("avx2"))) ByteMasks look_avx2(const char* p) {
  ByteMasks out{};
  for (unsigned half = 0; half < 2; ++half, p += 32) {
    const unsigned shift = 32 * half;
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const auto put = [shift](std::uint64_t& to, std::uint32_t mask) {
      to |= static_cast<std::uint64_t>(mask) << shift;
    };
    const __m256i space = equal(v, ' ');
    const __m256i low = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
    put(out.letter, bits(at_most(minus(low, 'a'), 25)));
    put(out.number, bits(at_most(minus(v, '0'), 9)));
    put(out.blank, bits(_mm256_or_si256(space, at_most(minus(v, '\t'), 4))));
    put(out.newline, bits(_mm256_or_si256(equal(v, '\n'), equal(v, '\r'))));
    put(out.space, bits(space));
    put(out.apostrophe, bits(equal(v, '\'')));
    const std::uint32_t high = bits(v);
    if (high == 0) continue;
    put(out.high, high);
    put(out.inner, bits(at_most(minus(v, '\x80'), 0x3F)));
    put(out.sure, bits(sure_letters(v, p)));
  }
  return out;
}

__attribute__((target("avx512f,avx512bw"))) __m512i all(char byte) {
  return _mm512_set1_epi8(byte);
}

__attribute__((target("avx512f,avx512bw"))) ByteMasks look_avx512(const char* p) {
  const __m512i v = _mm512_loadu_si512(p);
  ByteMasks out{};
  const __m512i low = _mm512_or_si512(v, all(0x20));
  out.letter = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(low, all('a')), all(26));
  out.number = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, all('0')), all(10));
  out.space = _mm512_cmpeq_epi8_mask(v, all(' '));
  out.blank = out.space | _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, all('\t')), all(5));
  out.newline = _mm512_cmpeq_epi8_mask(v, all('\n')) | _mm512_cmpeq_epi8_mask(v, all('\r'));
  out.apostrophe = _mm512_cmpeq_epi8_mask(v, all('\''));
  out.high = _mm512_movepi8_mask(v);
  if (out.high == 0) return out;
  out.inner = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, all('\x80')), all(0x40));
  const __m512i next = _mm512_loadu_si512(p + 1);
  const std::uint64_t plain = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, all('\xE5')), all(5)) |
                              _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, all('\xEB')), all(2));
  const std::uint64_t e4 =
      _mm512_cmpeq_epi8_mask(v, all('\xE4')) & ~_mm512_cmpeq_epi8_mask(next, all('\xB7'));
  const std::uint64_t ea =
      _mm512_cmpeq_epi8_mask(v, all('\xEA')) & _mm512_cmpge_epu8_mask(next, all('\xB0'));
  const std::uint64_t ed =
      _mm512_cmpeq_epi8_mask(v, all('\xED')) & _mm512_cmple_epu8_mask(next, all('\x9D'));
  out.sure = plain | e4 | ea | ed;
  return out;
}

// Bits of characters that begin in one word and end in the next.
struct Carry {
  std::uint64_t letter = 0, number = 0, blank = 0;
};

// The characters that begin at `firsts`, looked up one by one.
void look_up(const char* p, std::uint64_t firsts, std::size_t word, Carry& carry, ClassMasks& out) {
  const CodePointTable& table = class_table();
  for (; firsts != 0; firsts &= firsts - 1) {
    const auto bit = static_cast<unsigned>(std::countr_zero(firsts));
    const Decoded c = decode_valid(p + bit);
    const CharClass kind = class_of(table, c.point);
    const std::uint64_t bytes = (std::uint64_t{1} << c.bytes) - 1;
    const std::uint64_t here = bytes << bit;
    const std::uint64_t next = bit + c.bytes > 64 ? bytes >> (64 - bit) : 0;
    if (in_set(kLetters, kind)) {
      out.letter[word] |= here;
      carry.letter |= next;
    } else if (kind == CharClass::number) {
      out.number[word] |= here;
      carry.number |= next;
    } else if (kind == CharClass::blank) {
      out.blank[word] |= here;
      carry.blank |= next;
    }
  }
}

}  // namespace

Simd best_simd() {
  if (__builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512f") != 0) {
    return Simd::avx512;
  }
  return __builtin_cpu_supports("avx2") != 0 ? Simd::avx2 : Simd::none;
}

void classify(Simd simd, std::string_view text, std::size_t at, std::size_t size, ClassMasks& out) {
  MUSTER_CHECK(simd != Simd::none && size <= ClassMasks::kWindow, "what a caller may ask for");
  Carry carry;
  for (std::size_t word = 0; word * 64 < size; ++word) {
    const char* p = text.data() + at + word * 64;
    // A look reads 65 bytes; near the end of the text they are copied, with zeros behind.
    char copy[72] = {};
    const std::size_t left = text.size() - at - word * 64;
    if (left < 65) {
      std::memcpy(copy, p, left);
      p = copy;
    }
    const ByteMasks look = simd == Simd::avx512 ? look_avx512(p) : look_avx2(p);
    const std::size_t here = std::min<std::size_t>(size - word * 64, 64);
    const std::uint64_t valid = ~std::uint64_t{0} >> (64 - here);
    const Carry before = std::exchange(carry, {});
    out.letter[word] = look.letter | before.letter;
    out.number[word] = look.number | before.number;
    out.blank[word] = look.blank | before.blank;
    out.newline[word] = look.newline & valid;
    out.space[word] = look.space & valid;
    out.apostrophe[word] = look.apostrophe & valid;
    out.inner[word] = look.inner & valid;
    if (look.high != 0) {
      const std::uint64_t sure = look.sure & valid;
      out.letter[word] |= sure | sure << 1 | sure << 2;
      carry.letter = sure >> 63 | sure >> 62;
      look_up(p, look.high & ~look.inner & ~sure & valid, word, carry, out);
    }
    out.letter[word] &= valid;
    out.number[word] &= valid;
    out.blank[word] &= valid;
  }
}

}  // namespace muster::tokens
