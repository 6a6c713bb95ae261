#include "core/tokens/mask_splitter.h"

#include <algorithm>
#include <array>
#include <bit>

namespace muster::tokens {
namespace {

using Words = ClassMasks::Words;

bool bit_of(const Words& words, std::size_t at) {
  return (words[at / 64] >> (at % 64) & 1) != 0;
}
void set_bit(Words& words, std::size_t at) {
  words[at / 64] |= std::uint64_t{1} << (at % 64);
}

// Where pieces start in a window, as bits. The rules are those of cl100k_end() in splitter.cc, said
// from the other side: what makes a piece start at this byte?
class Starts {
 public:
  Starts(const ClassMasks& masks, std::string_view window, std::size_t digits)
      : m_(masks), window_(window), digits_(digits) {}

  const Words& find() {
    const std::size_t words = (window_.size() + 63) / 64;
    std::fill_n(starts_.begin(), words, 0);
    for (std::size_t word = 0; word < words; ++word) step(word);
    return starts_;
  }

 private:
  // `bits` one byte later; what falls out at the top comes into the next word.
  static std::uint64_t later(std::uint64_t bits, std::uint64_t& top) {
    const std::uint64_t moved = bits << 1 | top;
    top = bits >> 63;
    return moved;
  }

  void step(std::size_t word) {
    const std::size_t left = window_.size() - word * 64;
    const std::uint64_t valid = ~std::uint64_t{0} >> (left < 64 ? 64 - left : 0);
    const std::uint64_t letter = m_.letter[word], number = m_.number[word], blank = m_.blank[word];
    const std::uint64_t newline = m_.newline[word], space = m_.space[word], inner = m_.inner[word];
    const std::uint64_t sign = valid & ~(letter | number | blank);
    const std::uint64_t first = valid & ~inner;
    // Of the character before.
    const std::uint64_t after_letter = later(letter, letter_top_);
    const std::uint64_t after_blank = later(blank, blank_top_);
    const std::uint64_t after_newline = later(newline, newline_top_);
    const std::uint64_t after_space = later(space, space_top_);
    const std::uint64_t after_sign = later(sign, sign_top_);

    // A run of signs; a blank before it belongs to it.
    const std::uint64_t sign_start = first & sign & ~after_sign & ~after_space;
    // The first character of such a run joins letters directly behind it.
    std::uint64_t lone = sign_start | (lone_top_ & inner);
    if (inner != 0) {
      lone |= lone << 1 & inner;
      lone |= lone << 1 & inner;
      lone |= lone << 1 & inner;
    }
    lone &= sign;
    const std::uint64_t after_lone = later(lone, lone_top_);
    const std::uint64_t letter_start = first & letter & ~after_letter;
    const std::uint64_t joined = letter_start & (after_lone | (after_blank & ~after_newline));

    // Line ends directly behind signs belong to them.
    const std::uint64_t taken_from = newline & (after_sign | taken_top_);
    const std::uint64_t taken = newline & ~(newline + taken_from);
    const std::uint64_t after_taken = later(taken, taken_top_);
    const std::uint64_t blank_start =
        first & blank & ~taken & (~after_blank | (after_taken & ~newline));

    starts_[word] |= sign_start | (letter_start & ~joined) | blank_start;
    last_blanks(word, first & ~blank & after_blank & ~after_newline);
    indents(word, first & blank & ~newline & after_newline);
    if (digits_ == 1) {
      starts_[word] |= first & number;
    } else {
      numbers(word, first & number & ~later(number, number_top_));
    }
    contractions(word, m_.apostrophe[word] & sign_start);
  }

  // The last blank before something else stands alone or goes with what follows. `behind`: where
  // that begins.
  void last_blanks(std::size_t word, std::uint64_t behind) {
    const std::uint64_t last = behind >> 1;
    starts_[word] |= last & ~m_.inner[word];
    std::uint64_t odd = last & m_.inner[word];
    if ((behind & 1) != 0) set_first_byte(word * 64 - 1);
    for (; odd != 0; odd &= odd - 1) {
      set_first_byte(word * 64 + static_cast<std::size_t>(std::countr_zero(odd)));
    }
  }

  void set_first_byte(std::size_t at) {
    while (bit_of(m_.inner, at)) --at;
    set_bit(starts_, at);
  }

  // Blanks behind a line end start a piece, unless another line end follows in the same run.
  void indents(std::size_t word, std::uint64_t candidates) {
    for (; candidates != 0; candidates &= candidates - 1) {
      const std::size_t from = word * 64 + static_cast<std::size_t>(std::countr_zero(candidates));
      std::size_t at = from / 64;
      std::uint64_t others = ~(m_.blank[at] & ~m_.newline[at]) & ~std::uint64_t{0} << from % 64;
      while (others == 0 && (at + 1) * 64 < window_.size()) {
        ++at;
        others = ~(m_.blank[at] & ~m_.newline[at]);
      }
      const std::size_t end = at * 64 + static_cast<std::size_t>(std::countr_zero(others));
      if (others == 0 || end >= window_.size() || !bit_of(m_.newline, end)) set_bit(starts_, from);
    }
  }

  // Numbers by threes.
  void numbers(std::size_t word, std::uint64_t runs) {
    for (; runs != 0; runs &= runs - 1) {
      std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(runs));
      for (std::size_t count = 0; at < window_.size() && bit_of(m_.number, at); ++at) {
        if (bit_of(m_.inner, at)) continue;
        if (count++ % digits_ == 0) set_bit(starts_, at);
      }
    }
  }

  void contractions(std::size_t word, std::uint64_t apostrophes) {
    for (; apostrophes != 0; apostrophes &= apostrophes - 1) {
      const std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(apostrophes));
      const std::size_t end = contraction_end(window_, at);
      if (end != at && end < window_.size() && bit_of(m_.letter, end)) set_bit(starts_, end);
    }
  }

  const ClassMasks& m_;
  std::string_view window_;
  std::size_t digits_;
  Words starts_;
  std::uint64_t letter_top_ = 0, number_top_ = 0, blank_top_ = 0, newline_top_ = 0, space_top_ = 0;
  std::uint64_t sign_top_ = 0, lone_top_ = 0, taken_top_ = 0;
};

}  // namespace

bool has_mask_split(SplitFamily family) {
  return family == SplitFamily::qwen2 || family == SplitFamily::llama3;
}

std::size_t mask_split(SplitFamily family, Simd simd, std::string_view text, std::size_t at,
                       std::uint32_t* ends) {
  std::size_t size = std::min(text.size() - at, ClassMasks::kWindow);
  const bool whole = at + size == text.size();
  while (!whole && (static_cast<unsigned char>(text[at + size]) & 0xC0) == 0x80) --size;
  ClassMasks masks;
  classify(simd, text, at, size, masks);
  Starts starts(masks, text.substr(at, size), family == SplitFamily::qwen2 ? 1 : 3);
  const Words& bits = starts.find();
  // What touches the end of a window, or blanks that do, may go on behind it.
  std::size_t sure = size;
  while (!whole && sure > 0 && bit_of(masks.blank, sure - 1)) --sure;
  std::size_t count = 0;
  for (std::size_t word = 0; word * 64 < sure; ++word) {
    std::uint64_t here = bits[word];
    if (word == 0) here &= ~std::uint64_t{1};
    if (sure - word * 64 < 64) here &= (std::uint64_t{1} << (sure - word * 64)) - 1;
    for (; here != 0; here &= here - 1) {
      ends[count++] = static_cast<std::uint32_t>(at + word * 64 +
                                                 static_cast<std::size_t>(std::countr_zero(here)));
    }
  }
  if (whole) ends[count++] = static_cast<std::uint32_t>(text.size());
  return count;
}

}  // namespace muster::tokens
