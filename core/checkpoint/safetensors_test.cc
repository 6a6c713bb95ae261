#include "core/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <string>

#include "base/memory_bytes.h"

namespace muster::checkpoint {
namespace {

std::string file_head(const std::string& json) {
  const std::uint64_t length = json.size();
  return std::string(memory_bytes(std::span(&length, 1))) + json;
}

// A tensor of two bytes at [0, 2).
constexpr const char* kA = R"("a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]})";

TEST(Safetensors, BadHeads) {
  struct Row {
    const char* name;
    std::string json, error;
  };
  const Row rows[] = {
      {"no json", "{\"a\"", "no JSON object"},
      {"an array", "[]", "no JSON object"},
      {"no type", R"({"a":{"shape":[1],"data_offsets":[0,2]}})", "no type, shape or place of a"},
      {"no shape", R"({"a":{"dtype":"BF16","data_offsets":[0,2]}})", "no type"},
      {"one offset", R"({"a":{"dtype":"BF16","shape":[1],"data_offsets":[0]}})", "no type"},
      {"negative", R"({"a":{"dtype":"BF16","shape":[-1],"data_offsets":[0,2]}})", "no type"},
      {"backwards", R"({"a":{"dtype":"BF16","shape":[0],"data_offsets":[2,0]}})", "no type"},
      {"a fraction", R"({"a":{"dtype":"BF16","shape":[1.5],"data_offsets":[0,2]}})", "no type"},
      {"span", R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,2]}})", "another size"},
      {"overflow", R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
       "another size"},
      {"a hole", R"({"a":{"dtype":"BF16","shape":[1],"data_offsets":[2,4]}})", "where 0 is due"},
      {"overlap",
       R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       "where 4 is due"},
      {"twice", std::string("{") + kA + R"(,"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "names a twice"},
      {"metadata", R"({"__metadata__":{"n":1}})", "more than texts"},
      {"metadata is a list", R"({"__metadata__":[]})", "no object"},
  };
  for (const Row& row : rows) {
    const auto header = parse_safetensors(file_head(row.json));
    ASSERT_FALSE(header) << row.name;
    EXPECT_EQ(header.error().code, Errc::corrupt) << row.name;
    EXPECT_NE(header.error().context.find(row.error), std::string::npos)
        << row.name << ": " << header.error().context;
  }
}

TEST(Safetensors, FirstBytes) {
  const auto begin = [](std::uint64_t length) {
    return safetensors_data_begin(memory_bytes(std::span<const std::uint64_t>(&length, 1)));
  };
  EXPECT_FALSE(safetensors_data_begin("1234567"));
  EXPECT_FALSE(begin(0));
  EXPECT_FALSE(begin(1));
  EXPECT_FALSE(begin(kSafetensorsHeaderBytes + 1));
  EXPECT_FALSE(begin(~0ull));
  EXPECT_EQ(begin(2).value(), 10u);
  EXPECT_EQ(begin(kSafetensorsHeaderBytes).value(), kSafetensorsHeaderBytes + 8);
}

TEST(Safetensors, WhatIsWrittenReadsBack) {
  std::vector<SavedTensor> tensors = {{"model.embed_tokens.weight", "BF16", {3, 5}, 0, 0},
                                      {"a \"quoted\"\n name", "F32", {}, 0, 0},
                                      {"none", "F64", {4, 0}, 0, 0},
                                      {"last", "U8", {7}, 0, 0}};
  const std::string head = encode_safetensors(tensors);
  EXPECT_EQ(head.size() % 8, 0u);
  const auto header = parse_safetensors(head);
  ASSERT_TRUE(header) << header.error().context;
  EXPECT_EQ(header->tensors.size(), 4u);
  for (const SavedTensor& tensor : tensors) {
    const SavedTensor* found = header->find(tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(*found, tensor);
  }
  EXPECT_EQ(header->data_begin, head.size());
  EXPECT_EQ(header->data_bytes(), 30u + 4 + 0 + 7);
  EXPECT_EQ(header->metadata, (std::vector<std::pair<std::string, std::string>>{{"format", "pt"}}));
  EXPECT_EQ(header->find("other"), nullptr);
}

TEST(Safetensors, UnknownTypesAreTakenAsTheyStand) {
  const auto header =
      parse_safetensors(file_head(R"({"a":{"dtype":"F3_NEW","shape":[8],"data_offsets":[0,3]}})"));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->data_bytes(), 3u);
}

TEST(Safetensors, CutAndFlippedAtEveryByte) {
  std::vector<SavedTensor> tensors = {{"a", "BF16", {2, 3}, 0, 0}, {"b", "F32", {1}, 0, 0}};
  const std::string head = encode_safetensors(tensors);
  for (std::size_t i = 0; i < head.size(); ++i) {
    EXPECT_FALSE(parse_safetensors(std::string_view(head).substr(0, i))) << i;
    for (const int bit : {0, 3, 7}) {
      std::string flipped = head;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto header = parse_safetensors(flipped);
      if (header) {
        EXPECT_EQ(header->file_bytes() - header->data_begin, header->data_bytes());
      }
    }
  }
}

}  // namespace
}  // namespace muster::checkpoint
