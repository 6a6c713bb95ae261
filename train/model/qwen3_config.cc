#include "train/model/qwen3_config.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "core/model/json_reader.h"

namespace muster::train {
namespace {

Error refused(std::string what) {
  return make_error(Errc::unsupported, std::move(what));
}

// A key that must be absent, null or false.
std::optional<Error> needs_off(const JsonNode& document, std::string_view key) {
  const JsonNode* node = document.find(key);
  if (node == nullptr) return std::nullopt;
  const bool* on = node->get<bool>();
  if (on != nullptr && !*on) return std::nullopt;
  return refused(fmt::format("{} is set; only models without it are known", key));
}

// A key that, where it is given, must be this text.
std::optional<Error> needs_text(const JsonNode& document, std::string_view key,
                                std::string_view wanted) {
  const JsonNode* node = document.find(key);
  const auto* text = node == nullptr ? nullptr : node->get<std::string>();
  if (node == nullptr || (text != nullptr && *text == wanted)) return std::nullopt;
  return refused(fmt::format("{} is {}; only \"{}\" is known", key,
                             text == nullptr ? "no text" : '"' + escape_controls(*text, 80) + '"',
                             wanted));
}

std::optional<Error> needs_full_attention(const JsonNode& document) {
  if (auto error = needs_off(document, "use_sliding_window")) return error;
  const JsonNode* types = document.find("layer_types");
  const auto* list = types == nullptr ? nullptr : types->get<JsonNode::Array>();
  if (types != nullptr && list == nullptr) return refused("layer_types is no list");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* text = (*list)[i].get<std::string>();
    if (text == nullptr || *text != "full_attention") {
      return refused(fmt::format("layer_types[{}] is not \"full_attention\"", i));
    }
  }
  return std::nullopt;
}

// transformers 4: rope_theta on top, rope_scaling null. transformers 5: both in rope_parameters.
std::optional<Error> read_rope(const JsonNode& document, Qwen3Config& config) {
  const JsonNode* scaling = document.find("rope_scaling");
  if (scaling != nullptr) {
    if (auto error = needs_text(*scaling, "rope_type", "default")) return error;
    if (scaling->find("rope_type") == nullptr) {
      return refused("rope_scaling is set; only rotary positions without scaling are known");
    }
  }
  const JsonNode* nested = document.find("rope_parameters");
  if (nested != nullptr) {
    if (auto error = needs_text(*nested, "rope_type", "default")) return error;
  }
  std::optional<double> theta;
  for (const JsonNode* place : {&document, nested}) {
    if (place == nullptr) continue;
    JsonFields fields(*place, place == nested ? "rope_parameters." : "");
    const auto partial = fields.number("partial_rotary_factor");
    const auto value = fields.number("rope_theta");
    if (fields.fault()) return *fields.fault();
    if (partial && *partial != 1) return refused("partial_rotary_factor is not 1");
    if (theta && value && *theta != *value) {
      return make_error(Errc::invalid_input, "rope_theta stands there twice and differs");
    }
    if (value) theta = value;
  }
  if (!theta || !std::isfinite(*theta) || *theta < 1) {
    return make_error(Errc::invalid_input, "rope_theta is missing, or less than 1");
  }
  config.rope_theta = *theta;
  return std::nullopt;
}

std::optional<Error> known_kind(const JsonNode& document) {
  const JsonNode* kind = document.find("model_type");
  if (kind == nullptr) return make_error(Errc::invalid_input, "model_type is missing");
  if (auto error = needs_text(document, "model_type", "qwen3")) return error;
  if (auto error = needs_text(document, "hidden_act", "silu")) return error;
  if (auto error = needs_off(document, "attention_bias")) return error;
  if (document.find("quantization_config") != nullptr) {
    return refused("quantization_config is set; only weights that can be trained are known");
  }
  JsonFields fields(document);
  const auto dropout = fields.number("attention_dropout");
  if (fields.fault()) return *fields.fault();
  if (dropout && *dropout != 0) return refused("attention_dropout is not 0");
  return needs_full_attention(document);
}

std::optional<Error> read_sizes(const JsonNode& document, Qwen3Config& config) {
  JsonFields fields(document);
  const auto size = [&fields](std::string_view key, std::uint64_t most) {
    return static_cast<std::uint64_t>(
        fields.require_integer(key, 1, static_cast<std::int64_t>(most)));
  };
  config.vocabulary = size("vocab_size", limits::kModelVocabulary);
  config.hidden = size("hidden_size", limits::kModelWidth);
  config.intermediate = size("intermediate_size", limits::kModelWidth);
  config.layers = size("num_hidden_layers", limits::kModelLayers);
  config.heads = size("num_attention_heads", limits::kModelHeads);
  config.kv_heads = size("num_key_value_heads", limits::kModelHeads);
  config.head_dim = size("head_dim", limits::kModelHeadDim);
  config.max_positions = size("max_position_embeddings", limits::kModelPositions);
  const auto epsilon = fields.number("rms_norm_eps");
  const auto tied = fields.boolean("tie_word_embeddings");
  if (fields.fault()) return *fields.fault();
  // Versions of the library disagree on what an absent one means.
  if (!tied) return make_error(Errc::invalid_input, "tie_word_embeddings is missing");
  if (!epsilon || !(*epsilon > 0) || *epsilon > 1) {
    return make_error(Errc::invalid_input, "rms_norm_eps is missing, or not between 0 and 1");
  }
  if (config.heads % config.kv_heads != 0) {
    return make_error(Errc::invalid_input,
                      fmt::format("{} heads do not share {} key and value heads evenly",
                                  config.heads, config.kv_heads));
  }
  if (config.head_dim % 2 != 0) {
    return make_error(Errc::invalid_input,
                      fmt::format("head_dim {} is odd: positions turn pairs", config.head_dim));
  }
  config.norm_epsilon = *epsilon;
  config.tied = *tied;
  return std::nullopt;
}

}  // namespace

Result<Qwen3Config> read_qwen3_config(std::string_view json) {
  auto document = parse_json(json);
  if (!document) return make_error(Errc::invalid_input, document.error().context);
  if (document->get<JsonNode::Object>() == nullptr) {
    return make_error(Errc::invalid_input, "no JSON object");
  }
  if (auto error = known_kind(*document)) return *error;
  Qwen3Config config;
  if (auto error = read_sizes(*document, config)) return *error;
  if (auto error = read_rope(*document, config)) return *error;
  return config;
}

}  // namespace muster::train
