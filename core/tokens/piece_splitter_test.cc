#include "core/tokens/piece_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace muster::tokens {
namespace {

std::vector<std::string> pieces(const PieceSplitter& splitter, std::string_view text) {
  std::vector<std::string> out;
  std::vector<std::uint32_t> ends(PieceSplitter::kMost);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t count = splitter.split(text, at, ends.data());
    EXPECT_GT(count, 0U);
    for (std::size_t i = 0; i < count; ++i) {
      out.emplace_back(text.substr(at, ends[i] - at));
      at = ends[i];
    }
  }
  return out;
}

// ---- what the patterns say ---------------------------------------------------------------------

struct Row {
  SplitFamily family;
  const char* text;
  std::vector<std::string> expected;
};

constexpr auto kQwen = SplitFamily::qwen2, kLlama = SplitFamily::llama3;
constexpr auto kGpt = SplitFamily::o200k, kDeep = SplitFamily::deepseek_v3;

const Row kRows[] = {
    // Contractions come first, but only where a piece starts.
    {kQwen, "don't", {"don", "'t"}},
    {kQwen, "'sx", {"'s", "x"}},
    {kQwen, " 's", {" '", "s"}},
    {kQwen, "!'s", {"!'", "s"}},
    {kQwen, "I'LL'd", {"I", "'LL", "'d"}},
    {kQwen, "a'l", {"a", "'l"}},
    {kQwen, "x'\u017fy", {"x", "'\u017f", "y"}},
    {kQwen, "x'\u212ay", {"x", "'\u212ay"}},
    // One sign goes with the letters behind it, several do not.
    {kQwen, "(x)", {"(x", ")"}},
    {kQwen, " (x", {" (", "x"}},
    {kQwen, "((x", {"((", "x"}},
    {kQwen, "\u2014x", {"\u2014x"}},
    {kQwen, "\u2014\u2014x", {"\u2014\u2014", "x"}},
    {kQwen, "a\u0301b", {"a", "\u0301b"}},
    // Line ends behind signs belong to them.
    {kQwen, "!\n\n  x", {"!\n\n", " ", " x"}},
    {kQwen, "!\r\n\n \n x", {"!\r\n\n", " \n", " x"}},
    {kQwen, "a\n\n  \n   b", {"a", "\n\n  \n", "  ", " b"}},
    {kQwen, "a  \n  1", {"a", "  \n", " ", " ", "1"}},
    {kQwen, "a \n", {"a", " \n"}},
    {kQwen, "a \n  ", {"a", " \n", "  "}},
    // The last blank goes with what follows, where that takes one.
    {kQwen, "   word   ", {"  ", " word", "   "}},
    {kQwen, "  !", {" ", " !"}},
    {kQwen, " \t!", {" ", "\t", "!"}},
    {kQwen, "\tx", {"\tx"}},
    {kQwen, "\u3000\u3000x", {"\u3000", "\u3000x"}},
    {kQwen, "\u3000\u30001", {"\u3000", "\u3000", "1"}},
    {kQwen, "\nx", {"\n", "x"}},
    {kQwen, "12 345", {"1", "2", " ", "3", "4", "5"}},
    {kLlama, "12 3456789", {"12", " ", "345", "678", "9"}},
    {kLlama, "\u0661\u0662\u0663\u0664x", {"\u0661\u0662\u0663", "\u0664", "x"}},
    // Words by case; marks are of the word.
    {kGpt, "camelCase HTTPServer", {"camel", "Case", " HTTPServer"}},
    {kGpt, "HTTPs XMLs'S", {"HTTPs", " XMLs'S"}},
    {kGpt, "ABC'll", {"ABC'll"}},
    {kGpt, "don't!", {"don't", "!"}},
    {kGpt, "'s", {"'s"}},
    {kGpt, "A\u02b0B", {"A\u02b0", "B"}},
    {kGpt, "a\u0301b", {"a\u0301b"}},
    {kGpt, "!\u0301\u0301x", {"!\u0301\u0301x"}},
    {kGpt, "!!\u0301x", {"!!\u0301", "x"}},
    {kGpt, "//\r/\nx", {"//\r/\n", "x"}},
    {kGpt, "1234", {"123", "4"}},
    // Numbers, Han and kana end the text for the rest.
    {kDeep, "1234a", {"123", "4", "a"}},
    {kDeep, "a  1", {"a", "  ", "1"}},
    {kDeep, "a  \u4e2d\u6587\u304b", {"a", "  ", "\u4e2d\u6587\u304b"}},
    {kDeep, "#include<x", {"#include", "<x"}},
    {kDeep, "##x", {"##", "x"}},
    {kDeep, "\u00abx", {"\u00ab", "x"}},
    {kDeep, "\u200b\u200bx", {"\u200b", "\u200bx"}},
    {kDeep, "\u200b\u200b1", {"\u200b\u200b", "1"}},
    {kDeep, "\u9fa6x\u4e2dy", {"\u9fa6x", "\u4e2d", "y"}},
};

TEST(Split, IsWhatThePatternSays) {
  for (const Row& row : kRows) {
    EXPECT_EQ(pieces(PieceSplitter(row.family, Simd::none), row.text), row.expected) << row.text;
  }
}

// ---- all ways are one --------------------------------------------------------------------------

std::vector<Simd> ways() {
  std::vector<Simd> out;
  if (best_simd() != Simd::none) out.push_back(Simd::avx2);
  if (best_simd() == Simd::avx512) out.push_back(Simd::avx512);
  return out;
}

void expect_one(const std::string& text) {
  for (const SplitFamily family : {kQwen, kLlama}) {
    const auto expected = pieces(PieceSplitter(family, Simd::none), text);
    for (const Simd way : ways()) {
      ASSERT_EQ(pieces(PieceSplitter(family, way), text), expected)
          << "way " << static_cast<int>(way) << " " << family_name(family) << ": " << text;
    }
  }
}

TEST(Split, HasOneAnswerInTheRows) {
  for (const Row& row : kRows) expect_one(row.text);
}

// What changes the class, the length or the place of a character.
const char* const kParts[] = {
    " ",      " ",      "  ",     "\n",     "\n",     "\r\n",       "\t",         "a",
    "bc",     "Word",   "s",      "t",      "'",      "'",          "'s",         "'re",
    "'LL",    "!",      "!",      "(",      "--",     "1",          "23",         "4567",
    "\u00a0", "\u0085", "\u3000", "\u2028", "\u00e9", "\u0301",     "\u0661",     "\u00bd",
    "\u2014", "\u201c", "\u4e2d", "\u4dc0", "\u9fff", "\u3042",     "\u3002",     "\uac00",
    "\uafff", "\ud79d", "\ud7a4", "\ua000", "\uff0c", "\U0001f600", "\U00020000", "\U0001d7ce",
    "\u017f", "\u200b",
};

TEST(Split, HasOneAnswerInTextsByChance) {
  std::mt19937 chance(7);
  std::uniform_int_distribution<std::size_t> part(0, std::size(kParts) - 1), size(1, 200);
  for (std::size_t round = 0; round < 3000; ++round) {
    std::string text(round % 70, 'x');  // moves all borders over the 64 places of a word
    for (std::size_t i = size(chance); i > 0; --i) text += kParts[part(chance)];
    expect_one(text);
    if (HasFatalFailure()) return;
  }
}

TEST(Split, HasOneAnswerWhereAWindowEnds) {
  // Each part at each place around the end of a window, and runs that are longer than one.
  for (const char* part : kParts) {
    for (std::size_t before = ClassMasks::kWindow - 6; before < ClassMasks::kWindow + 2; ++before) {
      std::string text;
      while (text.size() < before) text += "ab, ";
      text.resize(before);
      expect_one(text + part + "x y");
      expect_one(text + part + part + part + " y");
    }
    std::string run;
    while (run.size() < 3 * ClassMasks::kWindow) run += part;
    expect_one("a" + run + " \n b");
    if (HasFatalFailure()) return;
  }
}

// ---- families ----------------------------------------------------------------------------------

TEST(SplitFamily, IsKnownByItsPatternsAlone) {
  const std::string llama = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)"
                            R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  EXPECT_EQ(family_of(std::vector{llama}), SplitFamily::llama3);
  EXPECT_EQ(family_of(std::vector{llama, llama}), std::nullopt);
  EXPECT_EQ(family_of(std::vector{llama + "|x"}), std::nullopt);
  EXPECT_EQ(family_of(std::vector<std::string>{}), std::nullopt);
  EXPECT_EQ(family_of(std::vector<std::string>{R"(\p{N}{1,3})"}), std::nullopt);
}

}  // namespace
}  // namespace muster::tokens
