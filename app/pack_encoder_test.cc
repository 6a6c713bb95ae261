#include "app/pack_encoder.h"

#include <gtest/gtest.h>

#include "app/pack_test_kit.h"

namespace muster {
namespace {

using records::Document;

struct Encoded {
  std::vector<std::int32_t> ids;
  std::string trained;
  std::uint64_t eos_added;
  bool operator==(const Encoded&) const = default;
};

Encoded encode(Document document, EosRule eos, PackSpecials specials = PackSpecials::usual) {
  PackEncoder encoder(std::make_unique<ByteEncoder>(), eos, specials);
  blocks::TokenRun run;
  EXPECT_TRUE(encoder.add(std::move(document), run));
  EXPECT_EQ(run.ends, std::vector<std::uint64_t>{run.ids.size()});
  EXPECT_EQ(run.trained.size(), run.ids.size());
  std::string bits;
  for (std::uint64_t i = 0; i < run.ids.size(); ++i) bits += run.trained.at(i) ? '1' : '0';
  return {run.ids, bits, encoder.eos_added()};
}

Document text_of(std::string text) {
  Document document;
  document.text = std::move(text);
  document.trained = {{0, document.text.size()}};
  return document;
}

constexpr std::int32_t kE = ByteEncoder::kEos;
constexpr EosRule kEos{kE, false};

TEST(PackEncoder, WhatTheTokenizerRefusesLeavesNoTrace) {
  PackEncoder encoder(std::make_unique<ByteEncoder>(), kEos, PackSpecials::usual);
  blocks::TokenRun run;
  ASSERT_TRUE(encoder.add(text_of("ab"), run));
  EXPECT_FALSE(encoder.add(text_of("a!refuse"), run));
  EXPECT_EQ(run.ids, (std::vector<std::int32_t>{'a', 'b', kE}));
  EXPECT_EQ(run.ends, (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(run.trained.size(), 3U);
}

TEST(PackEncoder, EosComesOnce) {
  EXPECT_EQ(encode(text_of("ab"), kEos), (Encoded{{'a', 'b', kE}, "111", 1}));
  EXPECT_EQ(encode(text_of("ab<e>"), kEos), (Encoded{{'a', 'b', kE}, "111", 0}));
  EXPECT_EQ(encode(text_of("a<e>b"), kEos), (Encoded{{'a', kE, 'b', kE}, "1111", 1}));
  EXPECT_EQ(encode(text_of("ab"), {}), (Encoded{{'a', 'b'}, "11", 0}));
}

TEST(PackEncoder, AChatEndsItself) {
  const Document chat{"qa\n", {}, {{1, 2}}, true};
  EXPECT_EQ(encode(chat, {kE, true}), (Encoded{{'q', 'a', '\n'}, "010", 0}));
  EXPECT_EQ(encode(chat, {kE, false}), (Encoded{{'q', 'a', '\n', kE}, "0100", 1}));
}

TEST(PackEncoder, TrainedIsWhatStartsInARange) {
  // <e> is one token of three bytes.
  EXPECT_EQ(encode({"a<e>b", {}, {{1, 2}}, true}, {}), (Encoded{{'a', kE, 'b'}, "010", 0}));
  EXPECT_EQ(encode({"a<e>b", {}, {{2, 5}}, true}, {}), (Encoded{{'a', kE, 'b'}, "001", 0}));
  EXPECT_EQ(encode({"abcd", {}, {{0, 1}, {2, 3}}, true}, {}),
            (Encoded{{'a', 'b', 'c', 'd'}, "1010", 0}));
  EXPECT_EQ(encode({"ab", {}, {}, true}, {}), (Encoded{{'a', 'b'}, "00", 0}));
}

TEST(PackEncoder, WhoMayWriteControlTokens) {
  const Document chat{"<e>x", {{0, 3}}, {{3, 4}}, true};
  const std::vector<std::int32_t> plain = {'<', 'e', '>', 'x'}, special = {kE, 'x'};
  EXPECT_EQ(encode(chat, {}).ids, plain);
  EXPECT_EQ(encode(chat, {}, PackSpecials::text).ids, plain);
  EXPECT_EQ(encode(chat, {}, PackSpecials::ids).ids, special);
  EXPECT_EQ(encode(text_of("<e>x"), {}).ids, special);
  EXPECT_EQ(encode(text_of("<e>x"), {}, PackSpecials::text).ids, plain);
  EXPECT_EQ(encode(text_of("<e>x"), {}, PackSpecials::ids).ids, special);
}

}  // namespace
}  // namespace muster
