#include "core/tokens/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace muster {
namespace {

std::unique_ptr<const Tokenizer> load(const std::string& name) {
  std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/testdata/tokenizers/" + name + ".json");
  const std::string json((std::istreambuf_iterator<char>(file)), {});
  auto tokenizer = Tokenizer::from_json(json);
  EXPECT_TRUE(tokenizer) << tokenizer.error().context;
  return tokenizer ? std::move(*tokenizer) : nullptr;
}

std::vector<std::int32_t> encode(const Tokenizer& tokenizer, std::string_view text,
                                 std::vector<ByteRange> plain = {}) {
  Encoder encoder(tokenizer);
  std::vector<std::int32_t> ids;
  EXPECT_TRUE(encoder.encode(text, plain, ids));
  return ids;
}

TEST(Tokenizer, KnowsItsTokens) {
  const auto t = load("qwen2");
  ASSERT_EQ(t->vocabulary_count(), 2006U);
  const auto end = t->id_of("<|im_end|>");
  ASSERT_TRUE(end);
  EXPECT_TRUE(t->is_special(*end));
  EXPECT_FALSE(t->is_special(*t->id_of("<think>")));
  EXPECT_FALSE(t->is_special(*t->id_of("a")));
  EXPECT_FALSE(t->is_special(-1));
  EXPECT_FALSE(t->is_special(1 << 30));
  EXPECT_EQ(t->id_of("no such token"), std::nullopt);
  EXPECT_EQ(t->id_of(""), std::nullopt);
  EXPECT_EQ(t->decode(std::vector{*end, *t->id_of(" the")}).value(), "<|im_end|> the");
  EXPECT_FALSE(t->decode(std::vector{2006}));
  EXPECT_FALSE(t->decode(std::vector{-1}));
}

TEST(Tokenizer, TakesOnlyUtf8AndLeavesTheRestAlone) {
  const auto t = load("qwen2");
  Encoder encoder(*t);
  std::vector<std::int32_t> ids = {7};
  for (const char* bad : {"ab\xff", "\xc0\x80", "\xed\xa0\x80", "x\xe4\xb8", "\xf4\x90\x80\x80"}) {
    const Status encoded = encoder.encode(bad, {}, ids);
    ASSERT_FALSE(encoded);
    EXPECT_EQ(encoded.error().code, Errc::invalid_input);
    EXPECT_EQ(ids, std::vector{7});
  }
  EXPECT_EQ(encoder.encode("ab\xff", {}, ids).error().context, "no UTF-8 at byte 2");
  ASSERT_TRUE(encoder.encode("ab", {}, ids));
  EXPECT_EQ(ids.front(), 7);
  EXPECT_GT(ids.size(), 1U);
}

// ---- plain ranges
// --------------------------------------------------------------------------------

TEST(PlainRange, MakesAddedTokensOrdinaryText) {
  const auto t = load("qwen2");
  const std::int32_t end = *t->id_of("<|im_end|>");
  const std::string text = "a<|im_end|>b<|im_end|>";
  const auto count = [&](std::vector<ByteRange> plain) {
    const auto ids = encode(*t, text, std::move(plain));
    EXPECT_EQ(t->decode(ids).value(), text);
    return std::count(ids.begin(), ids.end(), end);
  };
  EXPECT_EQ(count({}), 2);
  EXPECT_EQ(count({{0, 22}}), 0);
  EXPECT_EQ(count({{0, 12}}), 1);
  EXPECT_EQ(count({{12, 22}}), 1);
  EXPECT_EQ(count({{11, 12}}), 2);
  // Touched, not covered: ordinary as well.
  EXPECT_EQ(count({{5, 6}}), 1);
  EXPECT_EQ(count({{10, 13}}), 0);
  EXPECT_EQ(count({{5, 5}}), 1);
}

TEST(PlainRange, IsNoBorderOfPieces) {
  const auto t = load("qwen2");
  const std::string text = "the understanding of distributed training";
  const auto ids = encode(*t, text);
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_EQ(encode(*t, text, {{cut, text.size()}}), ids) << cut;
    EXPECT_EQ(encode(*t, text, {{0, cut}}), ids) << cut;
  }
}

TEST(PlainRange, HoldsInNormalizedTextAsWell) {
  const auto t = load("normalized");
  const std::int32_t cafe = *t->id_of("caf\u00e9");
  const std::string text = "e\u0301 cafe\u0301 cafe\u0301";
  const auto count = [&](std::vector<ByteRange> plain) {
    const auto ids = encode(*t, text, std::move(plain));
    return std::count(ids.begin(), ids.end(), cafe);
  };
  EXPECT_EQ(count({}), 2);
  EXPECT_EQ(count({{4, 10}}), 1);
  EXPECT_EQ(count({{0, 3}}), 2);
  EXPECT_EQ(count({{11, 17}}), 1);
  EXPECT_EQ(count({{0, 17}}), 0);
}

TEST(Starts, AreThoseOfTheSource) {
  const auto t = load("normalized");
  Encoder encoder(*t);
  std::vector<std::int32_t> ids;
  std::vector<std::uint64_t> starts;
  const std::string text = "xe\u0301y<\u1100\u1161>z";
  ASSERT_TRUE(encoder.encode_with_starts(text, {}, ids, starts));
  ASSERT_EQ(starts.size(), ids.size());
  EXPECT_EQ(starts.front(), 0U);
  EXPECT_EQ(starts.back(), text.size() - 1);
  EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end()));
}

// ---- what is in the cache changes nothing
// ----------------------------------------------------------

TEST(Encoder, GivesTheSameIdsWhateverItHasSeen) {
  const auto t = load("normalized");
  std::mt19937 chance(3);
  std::uniform_int_distribution<int> letter(0, 6), size(1, 34), kind(0, 9);
  Encoder old(*t);
  for (int document = 0; document < 150; ++document) {
    std::string text;
    for (int word = 0; word < 1500; ++word) {
      // Mostly short words of many ids, of which the tables hold only some.
      const int letters = kind(chance) == 0 ? size(chance) : 5 + letter(chance);
      for (int i = 0; i < letters; ++i) text += "qxzjkvw"[letter(chance)];
      text += ' ';
    }
    Encoder fresh(*t);
    std::vector<std::int32_t> a, b;
    ASSERT_TRUE(old.encode(text, {}, a));
    ASSERT_TRUE(fresh.encode(text, {}, b));
    ASSERT_EQ(a, b) << document;
  }
}

// ---- nothing is quadratic
// ------------------------------------------------------------------------

TEST(Encoder, TakesLongRunsInStride) {
  const auto t = load("qwen2");
  std::string base64;
  for (std::uint32_t i = 1; base64.size() < 400'000; i = i * 1664525 + 1013904223) {
    base64 += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[i >> 26];
  }
  for (const std::string& text :
       {std::string(400'000, 'a'), std::string(400'000, ' '), std::string(400'000, '\n'),
        std::string(400'000, '='), std::string(400'000, '7'), base64}) {
    EXPECT_EQ(t->decode(encode(*t, text)).value(), text);
  }
}

}  // namespace
}  // namespace muster
