#include "core/tokens/splitter.h"

#include <array>

#include "core/tokens/unicode_class.h"

namespace muster::tokens {
namespace {

constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepseekNumbers = R"(\p{N}{1,3})";
constexpr std::string_view kDeepseekHan = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";
constexpr std::string_view kDeepseekRest =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr ClassSet kSpace = set_of(CharClass::blank);
constexpr ClassSet kNumber = set_of(CharClass::number);
constexpr ClassSet kMark = set_of(CharClass::mark);
constexpr ClassSet kNoWord = static_cast<ClassSet>(~(kLetters | kSpace | kNumber));
// The halves of a word of o200k; letters without case and marks are in both.
constexpr ClassSet kEither = set_of(CharClass::modifier, CharClass::letter, CharClass::mark);
constexpr ClassSet kUpper = kEither | set_of(CharClass::upper, CharClass::title);
constexpr ClassSet kLower = kEither | set_of(CharClass::lower);
constexpr ClassSet kSigns = set_of(CharClass::punctuation, CharClass::symbol);

bool is_newline(std::uint32_t point) {
  return point == '\r' || point == '\n';
}
bool is_ascii_letter(std::uint32_t point) {
  return (point | 0x20) - 'a' < 26;
}

struct Char {
  std::uint32_t point = 0;
  std::size_t end = 0;  // where the next one starts
  CharClass kind = CharClass::other;
};

// The text as the regular expressions see it.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text), table_(class_table()) {}

  std::size_t size() const { return text_.size(); }
  bool ends(std::size_t at) const { return at >= text_.size(); }

  Char at(std::size_t place) const {
    const Decoded c = decode_valid(text_.data() + place);
    return {c.point, place + c.bytes, class_of(table_, c.point)};
  }

  // Whether a character of the set stands at `place`.
  bool sees(std::size_t place, ClassSet set) const {
    return !ends(place) && in_set(set, at(place).kind);
  }

  std::size_t skip(std::size_t place, ClassSet set,
                   std::size_t most = std::string_view::npos) const {
    while (!ends(place) && most > 0) {
      const Char c = at(place);
      if (!in_set(set, c.kind)) break;
      place = c.end;
      --most;
    }
    return place;
  }

  template <typename Predicate>
  std::size_t skip_bytes(std::size_t place, Predicate wanted) const {
    while (!ends(place) && wanted(static_cast<unsigned char>(text_[place]))) ++place;
    return place;
  }
  std::size_t skip_newlines(std::size_t place) const { return skip_bytes(place, is_newline); }

  std::size_t contraction(std::size_t place) const { return contraction_end(text_, place); }

 private:
  std::string_view text_;
  const CodePointTable& table_;
};

// \s*[\r\n]+|\s+(?!\S)|\s+ at a blank. `over` tells where the text is at its end for the pattern.
template <typename Over>
std::size_t blanks_end(const Scan& scan, std::size_t at, Over over) {
  std::size_t newline_end = 0, last = at, place = at;
  while (!scan.ends(place)) {
    const Char c = scan.at(place);
    if (c.kind != CharClass::blank) break;
    last = place;
    place = c.end;
    if (is_newline(c.point)) newline_end = place;
  }
  if (newline_end != 0) return newline_end;
  if (over(place) || last == at) return place;
  return last;
}

std::size_t blanks_end(const Scan& scan, std::size_t at) {
  return blanks_end(scan, at, [&scan](std::size_t place) { return scan.ends(place); });
}

std::size_t cl100k_end(const Scan& scan, std::size_t at, std::size_t digits) {
  const Char c = scan.at(at);
  if (in_set(kLetters, c.kind)) return scan.skip(c.end, kLetters);
  if (c.kind == CharClass::number) return scan.skip(at, kNumber, digits);
  if (const std::size_t end = scan.contraction(at); end != at) return end;
  if (!is_newline(c.point) && scan.sees(c.end, kLetters)) return scan.skip(c.end, kLetters);
  const std::size_t signs = c.point == ' ' ? c.end : at;
  if (scan.sees(signs, kNoWord)) return scan.skip_newlines(scan.skip(signs, kNoWord));
  return blanks_end(scan, at);
}

// [Upper]*[Lower]+ at `at`, or 0. The first takes all that it can and gives back only what the
// second needs: one character that is in both.
std::size_t lower_word(const Scan& scan, std::size_t at) {
  std::size_t place = at, shared_end = 0;
  while (!scan.ends(place)) {
    const Char c = scan.at(place);
    if (!in_set(kUpper, c.kind)) break;
    place = c.end;
    if (in_set(kEither, c.kind)) shared_end = place;
  }
  if (scan.sees(place, kLower)) return scan.skip(place, kLower);
  return shared_end;
}

std::size_t o200k_end(const Scan& scan, std::size_t at) {
  const Char c = scan.at(at);
  const bool prefix = !is_newline(c.point) && !in_set(kLetters | kNumber, c.kind);
  std::size_t word = prefix ? lower_word(scan, c.end) : 0;
  if (word == 0) word = lower_word(scan, at);
  if (word == 0 && prefix && scan.sees(c.end, kUpper)) word = scan.skip(c.end, kUpper);
  if (word == 0 && in_set(kUpper, c.kind)) word = scan.skip(at, kUpper);
  if (word != 0) return scan.contraction(word);
  if (c.kind == CharClass::number) return scan.skip(at, kNumber, 3);
  const std::size_t signs = c.point == ' ' ? c.end : at;
  if (scan.sees(signs, kNoWord)) {
    return scan.skip_bytes(scan.skip(signs, kNoWord),
                           [](unsigned char b) { return is_newline(b) || b == '/'; });
  }
  return blanks_end(scan, at);
}

bool is_han_or_kana(std::uint32_t point) {
  return (point >= 0x4E00 && point <= 0x9FA5) || (point >= 0x3040 && point <= 0x30FF);
}

// What the first two patterns cut out is the end of the text for the third.
class DeepseekScan {
 public:
  explicit DeepseekScan(const Scan& scan) : scan_(scan) {}

  std::size_t end(std::size_t at) const {
    const Char c = scan_.at(at);
    if (c.kind == CharClass::number) return scan_.skip(at, kNumber, 3);
    if (is_han_or_kana(c.point)) {
      std::size_t place = c.end;
      while (!scan_.ends(place) && is_han_or_kana(scan_.at(place).point))
        place = scan_.at(place).end;
      return place;
    }
    if (const std::size_t matched = match(at); matched != at) return matched;
    // What no pattern takes is one piece up to where one does.
    std::size_t place = c.end;
    while (!over(place) && match(place) == place) place = scan_.at(place).end;
    return place;
  }

 private:
  bool over(std::size_t place) const {
    if (scan_.ends(place)) return true;
    const Char c = scan_.at(place);
    return c.kind == CharClass::number || is_han_or_kana(c.point);
  }

  std::size_t skip(std::size_t place, ClassSet set) const {
    while (!over(place) && in_set(set, scan_.at(place).kind)) place = scan_.at(place).end;
    return place;
  }

  // The end of a match of the third pattern, or `at`.
  std::size_t match(std::size_t at) const {
    const Char c = scan_.at(at);
    if (c.point < 0x80 && in_set(kSigns, c.kind)) {
      const std::size_t end = scan_.skip_bytes(c.end, is_ascii_letter);
      if (end != c.end) return end;
    }
    if (!is_newline(c.point) && !in_set(kLetters | kSigns, c.kind)) {
      const std::size_t end = skip(c.end, kLetters | kMark);
      if (end != c.end) return end;
    }
    if (in_set(kLetters | kMark, c.kind)) return skip(at, kLetters | kMark);
    const std::size_t signs = c.point == ' ' ? c.end : at;
    const std::size_t end = skip(signs, kSigns);
    if (end != signs) return scan_.skip_newlines(end);
    if (c.kind != CharClass::blank) return at;
    return blanks_end(scan_, at, [this](std::size_t place) { return over(place); });
  }

  const Scan& scan_;
};

std::string canonical(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    if (is_newline(static_cast<unsigned char>(c))) {
      out += c == '\r' ? "\\r" : "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::optional<SplitFamily> family_of(std::span<const std::string> patterns) {
  if (patterns.size() == 3 && patterns[0] == kDeepseekNumbers && patterns[1] == kDeepseekHan &&
      canonical(patterns[2]) == kDeepseekRest) {
    return SplitFamily::deepseek_v3;
  }
  if (patterns.size() != 1) return std::nullopt;
  const std::string pattern = canonical(patterns[0]);
  if (pattern == kQwen2) return SplitFamily::qwen2;
  if (pattern == kLlama3) return SplitFamily::llama3;
  if (pattern == kO200k) return SplitFamily::o200k;
  return std::nullopt;
}

std::string_view family_name(SplitFamily family) {
  static constexpr std::array<std::string_view, 4> kNames = {"qwen2", "llama3", "o200k",
                                                             "deepseek_v3"};
  return kNames[static_cast<std::size_t>(family)];
}

std::size_t contraction_end(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at, 3);
  if (rest.size() < 2 || rest[0] != '\'') return at;
  const auto low = [&rest](std::size_t i) { return i < rest.size() ? rest[i] | 0x20 : 0; };
  switch (low(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return at + 2;
    case 'r':
    case 'v':
      return low(2) == 'e' ? at + 3 : at;
    case 'l':
      return low(2) == 'l' ? at + 3 : at;
    default:
      return rest == "'\u017f" ? at + 3 : at;
  }
}

std::size_t piece_end(SplitFamily family, std::string_view text, std::size_t at) {
  const Scan scan(text);
  switch (family) {
    case SplitFamily::qwen2:
      return cl100k_end(scan, at, 1);
    case SplitFamily::llama3:
      return cl100k_end(scan, at, 3);
    case SplitFamily::o200k:
      return o200k_end(scan, at);
    case SplitFamily::deepseek_v3:
      return DeepseekScan(scan).end(at);
  }
  return text.size();
}

}  // namespace muster::tokens
