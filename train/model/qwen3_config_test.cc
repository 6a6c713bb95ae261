#include "train/model/qwen3_config.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::train {
namespace {

// As transformers 4 wrote the 0.6B model's, less what no reader needs.
const std::string kGood = R"({
  "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "bos_token_id": 151643, "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024,
  "initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 40960,
  "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28,
  "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
  "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
  "use_sliding_window": false, "vocab_size": 151936})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Qwen3Config, ReadsAPublishedFile) {
  const auto config = read_qwen3_config(kGood);
  ASSERT_TRUE(config) << config.error().context;
  Qwen3Config wanted;
  wanted.vocabulary = 151936, wanted.hidden = 1024, wanted.intermediate = 3072;
  wanted.layers = 28, wanted.heads = 16, wanted.kv_heads = 8, wanted.head_dim = 128;
  wanted.max_positions = 40960, wanted.tied = true;
  EXPECT_EQ(*config, wanted);
}

TEST(Qwen3Config, ReadsTheRotaryBaseWhereTransformers5PutsIt) {
  const std::string theta = R"("rope_theta": 1000000)";
  for (const char* nested : {R"("rope_parameters": {"rope_theta": 5e5, "rope_type": "default"})",
                             R"("rope_parameters": {"rope_theta": 5e5})",
                             R"("rope_theta": 500000, "rope_parameters": {"rope_theta": 5e5})"}) {
    const auto config = read_qwen3_config(with(theta, nested));
    ASSERT_TRUE(config) << nested << ": " << config.error().context;
    EXPECT_EQ(config->rope_theta, 5e5);
  }
}

TEST(Qwen3Config, AcceptsWhatOlderAndNewerFilesLeaveOutOrAdd) {
  const char* rows[][2] = {
      {R"("attention_bias": false, )", ""},
      {R"("attention_dropout": 0.0,)", ""},
      {R"("hidden_act": "silu", )", ""},
      {R"("use_sliding_window": false, )", ""},
      {R"("rope_scaling": null)", R"("rope_scaling": {"rope_type": "default"})"},
      {R"("sliding_window": null)", R"("layer_types": ["full_attention", "full_attention"])"},
  };
  for (const auto& [from, to] : rows) {
    const auto config = read_qwen3_config(with(from, to));
    EXPECT_TRUE(config) << to << ": " << config.error().context;
  }
}

struct Refusal {
  const char *from, *to;
  Errc code;
  const char* says;
};

constexpr Refusal kRefusals[] = {
    {"\"qwen3\"", "\"qwen3_moe\"", Errc::unsupported, "model_type is \"qwen3_moe\""},
    {"\"qwen3\"", "\"a\\u001bb\"", Errc::unsupported, "model_type is \"a\\x1bb\""},
    {"\"qwen3\"", "7", Errc::unsupported, "model_type is no text"},
    {"\"silu\"", "\"gelu\"", Errc::unsupported, "hidden_act is \"gelu\""},
    {"\"attention_bias\": false", "\"attention_bias\": true", Errc::unsupported, "attention_bias"},
    {"\"attention_bias\": false", "\"attention_bias\": 0", Errc::unsupported, "attention_bias"},
    {"\"attention_dropout\": 0.0", "\"attention_dropout\": 0.1", Errc::unsupported, "dropout"},
    {"\"use_sliding_window\": false", "\"use_sliding_window\": true", Errc::unsupported,
     "use_sliding_window"},
    {"\"sliding_window\": null", R"("layer_types": ["full_attention", "sliding_attention"])",
     Errc::unsupported, "layer_types[1]"},
    {"\"sliding_window\": null", R"("layer_types": {})", Errc::unsupported, "layer_types"},
    {"\"sliding_window\": null", R"("quantization_config": {"bits": 4})", Errc::unsupported,
     "quantization_config"},
    {"\"rope_scaling\": null", R"("rope_scaling": {"rope_type": "yarn", "factor": 4.0})",
     Errc::unsupported, "rope_type is \"yarn\""},
    {"\"rope_scaling\": null", R"("rope_scaling": {"type": "linear"})", Errc::unsupported,
     "rope_scaling"},
    {"\"rope_scaling\": null", R"("rope_parameters": {"rope_type": "llama3"})", Errc::unsupported,
     "llama3"},
    {"\"rope_scaling\": null", R"("rope_parameters": {"partial_rotary_factor": 0.5})",
     Errc::unsupported, "partial_rotary_factor"},
    {"\"rope_scaling\": null", R"("rope_parameters": {"rope_theta": 5})", Errc::invalid_input,
     "rope_theta"},
    {"\"rope_scaling\": null", R"("rope_parameters": 5)", Errc::invalid_input, "rope_parameters"},
    {"\"rope_theta\": 1000000", "\"rope_theta\": 0", Errc::invalid_input, "rope_theta"},
    {"\"rope_theta\": 1000000", "\"rope_theta\": null", Errc::invalid_input, "rope_theta"},
    {"\"head_dim\": 128, ", "", Errc::invalid_input, "head_dim"},
    {"\"head_dim\": 128", "\"head_dim\": 127", Errc::invalid_input, "head_dim 127 is odd"},
    {"\"hidden_size\": 1024", "\"hidden_size\": 0", Errc::invalid_input, "hidden_size"},
    {"\"hidden_size\": 1024", "\"hidden_size\": -1", Errc::invalid_input, "hidden_size"},
    {"\"hidden_size\": 1024", "\"hidden_size\": 1024.5", Errc::invalid_input, "hidden_size"},
    {"\"hidden_size\": 1024", "\"hidden_size\": 99999999999999999999", Errc::invalid_input, ""},
    {"\"intermediate_size\": 3072", "\"intermediate_size\": 4294967296", Errc::invalid_input,
     "intermediate_size"},
    {"\"num_hidden_layers\": 28", "\"num_hidden_layers\": 1000000", Errc::invalid_input,
     "num_hidden_layers"},
    {"\"num_key_value_heads\": 8", "\"num_key_value_heads\": 6", Errc::invalid_input,
     "16 heads do not share 6"},
    {"\"vocab_size\": 151936", "\"vocab_size\": 2147483648", Errc::invalid_input, "vocab_size"},
    {"\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": 0", Errc::invalid_input, "rms_norm_eps"},
    {"\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": \"x\"", Errc::invalid_input, "rms_norm_eps"},
    {"\"tie_word_embeddings\": true, ", "", Errc::invalid_input, "tie_word_embeddings"},
    {"\"tie_word_embeddings\": true", "\"tie_word_embeddings\": 1", Errc::invalid_input,
     "tie_word_embeddings"},
    {"\"model_type\": \"qwen3\", ", "", Errc::invalid_input, "model_type"},
};

TEST(Qwen3Config, RefusesByName) {
  for (const Refusal& row : kRefusals) {
    SCOPED_TRACE(row.to);
    const auto config = read_qwen3_config(with(row.from, row.to));
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, row.code) << config.error().context;
    EXPECT_NE(config.error().context.find(row.says), std::string::npos) << config.error().context;
  }
}

TEST(Qwen3Config, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "7", "null", "{", "\xff"}) {
    const auto config = read_qwen3_config(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().code, Errc::invalid_input) << text;
  }
}

TEST(Qwen3Config, CutOrFlippedAnywhereItIsRefusedOrWhole) {
  for (std::size_t i = 0; i < kGood.size(); ++i) {
    EXPECT_FALSE(read_qwen3_config(std::string_view(kGood).substr(0, i))) << i;
    std::string flipped = kGood;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x15);
    const auto config = read_qwen3_config(flipped);
    if (!config) continue;
    EXPECT_GT(config->head_dim, 0u);
    EXPECT_EQ(config->heads % config->kv_heads, 0u);
  }
}

}  // namespace
}  // namespace muster::train
