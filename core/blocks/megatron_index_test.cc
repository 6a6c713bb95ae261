#include "core/blocks/megatron_index.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace muster::blocks {
namespace {

std::string with_u64(std::string head, std::size_t at, std::uint64_t value) {
  std::memcpy(head.data() + at, &value, sizeof value);
  return head;
}

TEST(MegatronIndex, ReadsBackWhatItWrote) {
  for (const IdType type : {IdType::u8, IdType::i16, IdType::i32, IdType::i64, IdType::u16}) {
    const MegatronIndex index{type, 3, 4};
    const std::string head = megatron_header(index);
    ASSERT_EQ(head.size(), kMegatronHeaderBytes);
    const auto read = parse_megatron_index(head, index.end());
    ASSERT_TRUE(read) << read.error().context;
    EXPECT_EQ(read->type, type);
    EXPECT_EQ(read->sequences, 3U);
    EXPECT_EQ(read->document_entries, 4U);
    EXPECT_EQ(read->end(), 34U + 12 * 3 + 8 * 4);
  }
  // Byte by byte, as the format has it.
  EXPECT_EQ(
      megatron_header({IdType::i32, 2, 3}),
      std::string("MMIDIDX\0\0\x01\0\0\0\0\0\0\0\x04\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0", 34));
}

TEST(MegatronIndex, RefusesByName) {
  const MegatronIndex index{IdType::i32, 3, 4};
  const std::string good = megatron_header(index);
  std::string type = good;
  type[17] = 7;
  struct Row {
    const char* name;
    std::string head;
    std::uint64_t bytes;
    Errc code;
    const char* says;
  };
  const std::uint64_t huge = ~std::uint64_t{0};
  const Row rows[] = {
      {"other_magic", "x" + good.substr(1), index.end(), Errc::invalid_input, "no index"},
      {"version", with_u64(good, 9, 2), index.end(), Errc::unsupported, "version 2"},
      {"floats", type, index.end(), Errc::unsupported, "type 7"},
      {"multimodal", good, index.end() + 3, Errc::unsupported, "multimodal"},
      {"cut", good, index.end() - 1, Errc::corrupt, "bytes"},
      {"longer", good, index.end() + 1, Errc::corrupt, "bytes"},
      {"sequences_of_64_bits", with_u64(good, 18, huge), index.end(), Errc::corrupt, "sequences"},
      {"sequences_that_wrap", with_u64(good, 18, huge / 12 + 4), index.end(), Errc::corrupt,
       "sequences"},
      {"entries_of_64_bits", with_u64(good, 26, huge / 8 + 5), index.end(), Errc::corrupt,
       "entries"},
      {"no_entry", with_u64(good, 26, 0), index.end() - 32, Errc::corrupt, "entries"},
  };
  for (const Row& row : rows) {
    const auto read = parse_megatron_index(row.head, row.bytes);
    ASSERT_FALSE(read) << row.name;
    EXPECT_EQ(read.error().code, row.code) << row.name << ": " << read.error().context;
    EXPECT_NE(read.error().context.find(row.says), std::string::npos) << read.error().context;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(parse_megatron_index(good.substr(0, i), index.end()));
  }
}

struct SequencesRow {
  const char* name;
  std::vector<std::int32_t> sizes;
  std::vector<std::int64_t> pointers, documents;
  std::uint64_t bin_bytes;
  const char* says;  // nothing: they are sound
};

TEST(MegatronSequences, AreHeldTogether) {
  constexpr std::int64_t kLeast = INT64_MIN, kMost = INT64_MAX;
  const SequencesRow rows[] = {
      {"sound", {2, 0, 3}, {0, 8, 8}, {0, 1, 3}, 20, ""},
      {"one_document", {2, 0, 3}, {0, 8, 8}, {0, 3}, 20, ""},
      {"nothing", {}, {}, {0}, 0, ""},
      {"negative_size", {2, -1, 3}, {0, 8, 8}, {0, 3}, 20, "sequence 1: -1 tokens"},
      {"gap", {2, 0, 3}, {0, 8, 12}, {0, 3}, 20, "sequence 2 begins at byte 12"},
      {"32_bit_pointer", {2, 0, 3}, {0, 8, kLeast}, {0, 3}, 20, "sequence 2 begins"},
      {"beyond_the_bin", {2, 0, INT32_MAX}, {0, 8, 8}, {0, 3}, 20, "sequence 2 ends"},
      {"bin_is_longer", {2, 0, 3}, {0, 8, 8}, {0, 3}, 24, "the sequences end at byte 20 of 24"},
      {"first_document", {2, 0, 3}, {0, 8, 8}, {1, 3}, 20, "document entry 0"},
      {"documents_fall", {2, 0, 3}, {0, 8, 8}, {0, 2, 1, 3}, 20, "document entry 2"},
      {"document_beyond", {2, 0, 3}, {0, 8, 8}, {0, 4}, 20, "document entry 1"},
      {"document_of_64_bits", {2, 0, 3}, {0, 8, 8}, {0, kMost}, 20, "document entry 1"},
      {"documents_end_early", {2, 0, 3}, {0, 8, 8}, {0, 2}, 20, "the documents end at sequence 2"},
  };
  for (const SequencesRow& row : rows) {
    MegatronSequences check({IdType::i32, row.sizes.size(), row.documents.size()}, row.bin_bytes);
    Status fine = check.add(row.sizes, row.pointers);
    if (fine) fine = check.add_documents(row.documents);
    if (fine) fine = check.finish();
    EXPECT_EQ(fine.has_value(), std::string(row.says).empty()) << row.name;
    if (!fine) {
      EXPECT_EQ(fine.error().code, Errc::corrupt);
      EXPECT_NE(fine.error().context.find(row.says), std::string::npos)
          << row.name << ": " << fine.error().context;
    }
  }
}

TEST(IdTypes, WhatIsNoIdIsRefused) {
  const auto read = [](IdType type, auto value) {
    std::vector<std::int32_t> out = {7};
    const std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
    Status fine = append_ids(type, bytes, out);
    return fine ? static_cast<std::int64_t>(out.at(1)) : std::int64_t{-1};
  };
  EXPECT_EQ(read(IdType::u8, std::uint8_t{255}), 255);
  EXPECT_EQ(read(IdType::i8, std::int8_t{-3}), -1);
  EXPECT_EQ(read(IdType::i16, std::int16_t{300}), 300);
  EXPECT_EQ(read(IdType::u16, std::uint16_t{65'535}), 65'535);
  EXPECT_EQ(read(IdType::i32, std::int32_t{INT32_MAX}), INT32_MAX);
  EXPECT_EQ(read(IdType::i32, std::int32_t{-1}), -1);
  EXPECT_EQ(read(IdType::u32, std::uint32_t{0x80000000}), -1);
  EXPECT_EQ(read(IdType::i64, std::int64_t{151'643}), 151'643);
  EXPECT_EQ(read(IdType::i64, std::int64_t{1} << 32), -1);
  EXPECT_EQ(read(IdType::u64, ~std::uint64_t{0}), -1);
}

}  // namespace
}  // namespace muster::blocks
