#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Text -> pieces (pre-tokens), inside of which byte pairs merge. Each family of splits is written
// by hand from the regular expressions of its tokenizer.json, by which it is known; all of them
// cover every byte, and where a piece ends depends on nothing before it.

namespace muster::tokens {

enum class SplitFamily : std::uint8_t {
  qwen2,       // Qwen2, Qwen2.5, Qwen3: digits one by one
  llama3,      // the same with digits by threes
  o200k,       // GPT-4o, gpt-oss: words by case, marks belong to words
  deepseek_v3  // digits, then Han and kana, then the rest
};

// By the regular expressions of all Split steps, in order; CR and LF in them may stand for
// themselves or be written \r and \n. Nothing where no family has exactly these.
std::optional<SplitFamily> family_of(std::span<const std::string> patterns);
std::string_view family_name(SplitFamily family);

// Where the piece that starts at `at` ends. `text` is valid UTF-8, `at` < text.size() and a border
// of pieces. Time grows with the piece and the blanks behind it.
std::size_t piece_end(SplitFamily family, std::string_view text, std::size_t at);

// The end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at `at`, or `at` where there is none. Without case
// Oniguruma also takes U+017F for an s.
std::size_t contraction_end(std::string_view text, std::size_t at);

}  // namespace muster::tokens
