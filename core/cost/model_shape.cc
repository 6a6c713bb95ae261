#include "core/cost/model_shape.h"

#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "core/model/json_reader.h"

namespace muster::cost {
namespace {

// From their config.json; the numbers of parameters in the test are those of the published files.
const std::array<ModelShape, 6>& table() {
  static const std::array<ModelShape, 6> kTable = {{
      {"qwen3-0.6b", 151936, 1024, 3072, 28, 16, 8, 128, true},
      {"qwen3-1.7b", 151936, 2048, 6144, 28, 16, 8, 128, true},
      {"qwen3-4b", 151936, 2560, 9728, 36, 32, 8, 128, true},
      {"qwen3-8b", 151936, 4096, 12288, 36, 32, 8, 128},
      {"qwen3-14b", 151936, 5120, 17408, 40, 40, 8, 128},
      {"qwen3-32b", 151936, 5120, 25600, 64, 64, 8, 128},
  }};
  return kTable;
}

struct Family {
  std::string_view type;
  bool head_norms, qkv_bias;
};
constexpr Family kFamilies[] = {
    {"qwen3", true, false},
    {"qwen2", false, true},
    {"llama", false, false},
    {"mistral", false, false},
};

// Each factor of a product of four stays far below 2^64 / 4.
constexpr std::int64_t kMostOfOne = 1'000'000;

}  // namespace

std::uint64_t ModelShape::layer_parameters() const {
  const std::uint64_t q = q_width(), kv = kv_width();
  std::uint64_t count = hidden * (q + 2 * kv) + q * hidden + 3 * hidden * intermediate + 2 * hidden;
  if (head_norms) count += 2 * head_dim;
  if (qkv_bias) count += q + 2 * kv;
  return count;
}

std::uint64_t ModelShape::parameters() const {
  return embedding_parameters() * (tied ? 1 : 2) + layers * layer_parameters() + hidden;
}

std::span<const ModelShape> known_models() {
  return table();
}

const ModelShape* find_model(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  for (const ModelShape& model : table()) {
    if (equals_ignoring_case(model.name, last)) return &model;
  }
  return nullptr;
}

Result<ModelShape> read_model_shape(std::string_view config_json) {
  const auto document = parse_json(config_json);
  if (!document) return document.error();
  JsonFields fields(*document);
  const std::string type = fields.require_text("model_type");
  if (fields.fault()) return *fields.fault();
  const Family* family = nullptr;
  for (const Family& one : kFamilies) {
    if (one.type == type) family = &one;
  }
  if (family == nullptr) {
    return make_error(Errc::unsupported,
                      fmt::format("model_type '{}': known are qwen3, qwen2, llama, mistral",
                                  escape_controls(type, 40)));
  }
  const auto number = [&fields](std::string_view key) {
    return static_cast<std::uint64_t>(fields.require_integer(key, 1, kMostOfOne));
  };
  ModelShape shape;
  shape.name = type;
  shape.vocabulary = number("vocab_size");
  shape.hidden = number("hidden_size");
  shape.intermediate = number("intermediate_size");
  shape.layers = number("num_hidden_layers");
  shape.heads = number("num_attention_heads");
  const auto kv = fields.integer("num_key_value_heads", 1, kMostOfOne);
  shape.kv_heads = kv ? static_cast<std::uint64_t>(*kv) : shape.heads;
  const auto dim = fields.integer("head_dim", 1, kMostOfOne);
  if (fields.fault()) return *fields.fault();
  shape.head_dim = dim ? static_cast<std::uint64_t>(*dim) : shape.hidden / shape.heads;
  if (shape.head_dim == 0) {
    return make_error(Errc::invalid_input, "hidden_size is less than num_attention_heads");
  }
  shape.tied = fields.boolean("tie_word_embeddings").value_or(false);
  if (fields.fault()) return *fields.fault();
  shape.head_norms = family->head_norms;
  shape.qkv_bias = family->qkv_bias;
  constexpr std::uint64_t kMostParameters = 100'000'000'000'000;
  if (shape.layer_parameters() > kMostParameters / shape.layers) {
    return make_error(Errc::invalid_input, "more than 1e14 parameters");
  }
  return shape;
}

}  // namespace muster::cost
