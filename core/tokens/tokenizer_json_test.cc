#include "core/tokens/tokenizer_json.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"

namespace muster::tokens {
namespace {

// The smallest file that is read: all bytes, two merges.
std::string small() {
  std::string vocab;
  for (unsigned byte = 0, next = 0x100; byte < 256; ++byte) {
    const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    const unsigned c = prints ? byte : next++;
    vocab += fmt::format("\"\\u{:04x}\":{},", c, byte);
  }
  return R"({"version":"1.0","truncation":null,"added_tokens":[)"
         R"({"id":258,"content":"<|end|>","special":true,"normalized":false,"lstrip":false}],)"
         R"("normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[)"
         R"({"type":"Split","pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|)"
         R"([^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|)"
         R"(\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false},)"
         R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)"
         R"("post_processor":null,"decoder":{"type":"ByteLevel"},)"
         R"("model":{"type":"BPE","dropout":null,)"
         R"("byte_fallback":false,"vocab":{)" +
         vocab + R"("ab":256,"abc":257},"merges":[["a","b"],["ab","c"]]}})";
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = small();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TokenizerJson, IsRead) {
  const auto model = read_tokenizer_json(small(), nullptr);
  ASSERT_TRUE(model) << model.error().context;
  EXPECT_EQ((*model)->vocabulary.ids(), 259U);
  EXPECT_EQ((*model)->family, SplitFamily::qwen2);
  EXPECT_TRUE((*model)->nfc);
  EXPECT_TRUE((*model)->special[258]);
}

struct BadRow {
  const char* from;
  const char* to;
  Errc code;
  const char* why;  // a piece of the sentence
};

const BadRow kBad[] = {
    {R"("type":"BPE")", R"("type":"Unigram")", Errc::unsupported, "model Unigram"},
    {R"("type":"BPE")", R"("type":"WordPiece")", Errc::unsupported, "model WordPiece"},
    {R"("type":"BPE",)", "", Errc::unsupported, "without a type"},
    {R"("byte_fallback":false)", R"("byte_fallback":true)", Errc::unsupported, "byte_fallback"},
    {R"("dropout":null)", R"("dropout":0.1)", Errc::unsupported, "dropout"},
    {R"("dropout":null)", R"("end_of_word_suffix":"</w>")", Errc::unsupported,
     "end_of_word_suffix"},
    {R"("dropout":null)", R"("continuing_subword_prefix":"##")", Errc::unsupported,
     "subword_prefix"},
    {R"({"type":"NFC"})", R"({"type":"NFKC"})", Errc::unsupported, "normalizer NFKC"},
    {R"({"type":"NFC"})", R"({"type":"Sequence","normalizers":[{"type":"Lowercase"}]})",
     Errc::unsupported, "normalizer Lowercase"},
    {R"({"type":"NFC"})", R"({"type":"\u001b[31m"})", Errc::unsupported, "\\x1b[31m"},
    {R"({"type":"ByteLevel","add_p)", R"({"type":"Metaspace","add_p)", Errc::unsupported,
     "Metaspace"},
    {R"("add_prefix_space":false)", R"("add_prefix_space":true)", Errc::unsupported,
     "add_prefix_space"},
    {R"("use_regex":false)", R"("use_regex":true)", Errc::unsupported, "use_regex"},
    {R"(,"use_regex":false)", "", Errc::unsupported, "use_regex"},
    {R"("Isolated")", R"("MergedWithPrevious")", Errc::unsupported, "MergedWithPrevious"},
    {R"("Regex":)", R"("String":)", Errc::unsupported, "no Regex"},
    {R"(|\\p{N}|)", R"(|\\p{N}+|)", Errc::unsupported, "is none of those known"},
    {R"("decoder":{"type":"ByteLevel"})", R"("decoder":{"type":"WordPiece"})", Errc::unsupported,
     "decoder WordPiece"},
    {R"("post_processor":null)", R"("post_processor":{"type":"BertProcessing"})", Errc::unsupported,
     "BertProcessing"},
    {R"("lstrip":false)", R"("lstrip":true)", Errc::unsupported, "lstrip"},
    {R"("content":"<|end|>",)", "", Errc::invalid_input, "without content"},
    {R"("content":"<|end|>")", R"("content":"")", Errc::invalid_input, "without content"},
    {R"("id":258)", R"("id":300)", Errc::invalid_input, "has id 300, and 258"},
    {R"("id":258)", R"("id":3)", Errc::invalid_input, "has id 3, and 258"},
    {R"("id":258)", R"("id":-1)", Errc::invalid_input, "is no number"},
    {R"("id":258,)", "", Errc::invalid_input, "without an id"},
    {R"("lstrip":false})", R"("lstrip":false},{"id":259,"content":"<|end|>"})", Errc::invalid_input,
     "comes twice"},
    {R"("ab":256)", R"("ab":255)", Errc::invalid_input, "which \""},
    {R"("ab":256)", R"("ab":2097152)", Errc::exhausted, "ids are read"},
    {R"("ab":256)", R"("ab":"x")", Errc::invalid_input, "is no number"},
    {R"("ab":256)", R"("ab":1e3)", Errc::invalid_input, "is no number"},
    {R"("ab":256)", R"("ab":256,"ab":259)", Errc::invalid_input, "two ids"},
    {R"("\u0041":65,)", "", Errc::unsupported, "no entry for byte 0x41"},
    {R"("abc":257)", R"("abd":257)", Errc::invalid_input, "merge 1 of \"ab\" and \"c\""},
    {R"(["ab","c"])", R"(["a","b"])", Errc::invalid_input, "merge 1 repeats merge 0"},
    {R"(["ab","c"])", R"(["ab","c","d"])", Errc::invalid_input, "merge 1 is no pair"},
    {R"(["ab","c"])", R"("abc")", Errc::invalid_input, "merge 1 is no pair"},
    {R"(["ab","c"])", R"("a b c")", Errc::invalid_input, "merge 1 is no pair"},
    {R"(["ab","c"])", R"(["ab",7])", Errc::invalid_input, "merge 1 is no pair"},
    {R"(["ab","c"])", R"(["ab","\u4e2d"])", Errc::invalid_input, "must be in the vocabulary"},
    {R"("merges":)", R"("nothing":)", Errc::invalid_input, "no merges"},
    {R"("vocab":)", R"("nothing":)", Errc::invalid_input, "no vocab"},
    {R"("model":)", R"("nothing":)", Errc::invalid_input, "no model"},
    {R"("pre_tokenizer":)", R"("nothing":)", Errc::unsupported, "no pre_tokenizer"},
    {R"("version")", R"("version)", Errc::corrupt, "no JSON document"},
};

TEST(TokenizerJson, IsRefusedByName) {
  for (const BadRow& row : kBad) {
    const auto model = read_tokenizer_json(with(row.from, row.to), nullptr);
    ASSERT_FALSE(model) << row.to;
    EXPECT_EQ(model.error().code, row.code) << row.to << ": " << model.error().context;
    EXPECT_NE(model.error().context.find(row.why), std::string::npos) << model.error().context;
  }
}

TEST(TokenizerJson, OfOtherFormsIsReadAsWell) {
  for (const auto& [from, to] : {
           std::pair{R"(["a","b"],["ab","c"])", R"("a b","ab c")"},
           std::pair{R"({"type":"NFC"})", "null"},
           std::pair{R"({"type":"NFC"})", R"({"type":"Sequence","normalizers":[]})"},
           std::pair{R"("post_processor":null)",
                     R"("post_processor":{"type":"TemplateProcessing"})"},
           std::pair{R"("Isolated","invert":false)", R"("Removed","invert":true)"},
           std::pair{R"("truncation":null)", R"("truncation":{"max_length":5})"},
       }) {
    const auto model = read_tokenizer_json(with(from, to), nullptr);
    EXPECT_TRUE(model) << to << ": " << model.error().context;
  }
}

TEST(TokenizerJson, CutAnywhereIsRefused) {
  const std::string text = small();
  for (std::size_t size = 0; size < text.size(); ++size) {
    ASSERT_FALSE(read_tokenizer_json(text.substr(0, size), nullptr)) << size;
  }
}

TEST(TokenizerJson, WithAByteFlippedDoesNoHarm) {
  const std::string text = small();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {0, 3, 6}) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      [[maybe_unused]] const auto model = read_tokenizer_json(flipped, nullptr);
    }
  }
}

TEST(TokenizerJson, TooDeepOrTooLargeIsRefused) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const auto model = read_tokenizer_json(deep, nullptr);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, Errc::exhausted);
  EXPECT_FALSE(read_tokenizer_json("[]", nullptr));
  EXPECT_FALSE(read_tokenizer_json("", nullptr));
  const std::string name(limits::kTokenBytes + 1, 'x');
  const auto long_token = read_tokenizer_json(with(R"("ab":256)", "\"" + name + "\":256"), nullptr);
  ASSERT_FALSE(long_token);
  EXPECT_EQ(long_token.error().code, Errc::exhausted);
}

}  // namespace
}  // namespace muster::tokens
