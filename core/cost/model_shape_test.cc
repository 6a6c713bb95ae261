#include "core/cost/model_shape.h"

#include <gtest/gtest.h>

namespace muster::cost {
namespace {

// As the published files have them.
TEST(ModelShape, ParametersOfTheSixSizes) {
  const std::pair<const char*, std::uint64_t> kRows[] = {
      {"qwen3-0.6b", 596'049'920},      {"Qwen3-1.7B", 1'720'574'976},
      {"Qwen/Qwen3-4B", 4'022'468'096}, {"qwen3-8b", 8'190'735'360},
      {"qwen3-14b", 14'768'307'200},    {"models/qwen3-32b", 32'762'123'264},
  };
  for (const auto& [name, parameters] : kRows) {
    const ModelShape* model = find_model(name);
    ASSERT_NE(model, nullptr) << name;
    EXPECT_EQ(model->parameters(), parameters) << name;
  }
  EXPECT_EQ(find_model("qwen3-32b")->layer_parameters(), 487'598'336U);
}

TEST(ModelShape, UnknownNames) {
  for (const char* name : {"", "/", "qwen3", "qwen3-32", "qwen3-32bb", "llama-70b"}) {
    EXPECT_EQ(find_model(name), nullptr) << name;
  }
}

std::string config(std::string_view type, std::string_view more) {
  return R"({"model_type":")" + std::string(type) +
         R"(","vocab_size":1000,"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,)"
         R"("num_attention_heads":4)" +
         std::string(more) + "}";
}

TEST(ModelShape, ReadsConfigs) {
  const auto llama = read_model_shape(config("llama", ""));
  ASSERT_TRUE(llama) << llama.error().context;
  EXPECT_EQ(llama->kv_heads, 4U);
  EXPECT_EQ(llama->head_dim, 16U);
  // 4 x 64 x 64 of attention, 3 x 64 x 128 of the MLP, two norms.
  EXPECT_EQ(llama->layer_parameters(), 16384U + 24576U + 128U);
  EXPECT_EQ(llama->parameters(), 2 * 64000U + 2 * 41088U + 64U);
  const auto qwen3 = read_model_shape(
      config("qwen3", R"(,"num_key_value_heads":2,"head_dim":32,"tie_word_embeddings":true)"));
  ASSERT_TRUE(qwen3);
  EXPECT_EQ(qwen3->q_width(), 128U);
  EXPECT_EQ(qwen3->kv_width(), 64U);
  EXPECT_EQ(qwen3->layer_parameters(), 64U * 256 + 128U * 64 + 24576U + 128U + 64U);
  EXPECT_EQ(qwen3->parameters(), 64000U + 2 * qwen3->layer_parameters() + 64U);
  const auto qwen2 = read_model_shape(config("qwen2", ""));
  ASSERT_TRUE(qwen2);
  EXPECT_EQ(qwen2->layer_parameters(), llama->layer_parameters() + 3 * 64);
}

TEST(ModelShape, RefusesConfigs) {
  struct Row {
    const char* name;
    std::string json;
    Errc code;
  };
  const Row kRows[] = {
      {"empty", "", Errc::corrupt},
      {"no_object", "[]", Errc::invalid_input},
      {"no_type", "{}", Errc::invalid_input},
      {"mixture", config("qwen3_moe", ""), Errc::unsupported},
      {"kv_zero", config("llama", R"(,"num_key_value_heads":0)"), Errc::invalid_input},
      {"kv_text", config("llama", R"(,"num_key_value_heads":"2")"), Errc::invalid_input},
      {"head_dim_huge", config("llama", R"(,"head_dim":100000000000)"), Errc::invalid_input},
      {"more_heads_than_hidden",
       R"({"model_type":"llama","vocab_size":9,"hidden_size":2,"intermediate_size":1,)"
       R"("num_hidden_layers":1,"num_attention_heads":4})",
       Errc::invalid_input},
      {"too_many_parameters",
       R"({"model_type":"llama","vocab_size":9,"hidden_size":1000000,"intermediate_size":1000000,)"
       R"("num_hidden_layers":1000000,"num_attention_heads":1000000})",
       Errc::invalid_input},
  };
  for (const Row& row : kRows) {
    const auto read = read_model_shape(row.json);
    ASSERT_FALSE(read) << row.name;
    EXPECT_EQ(read.error().code, row.code) << row.name << ": " << read.error().context;
  }
  const std::string whole = config("qwen3", R"(,"head_dim":32)");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(read_model_shape(whole.substr(0, length))) << length;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x15);
    (void)read_model_shape(flipped);
  }
}

}  // namespace
}  // namespace muster::cost
