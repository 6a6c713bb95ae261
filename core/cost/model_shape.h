#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::cost {

// What memory and network cost of a dense decoder depends on. Apart from the reader of the trainer,
// which must know every detail of what it computes: this one also takes models that are trained
// elsewhere.
struct ModelShape {
  std::string name;  // "qwen3-32b", or the model_type of the file
  std::uint64_t vocabulary = 0, hidden = 0, intermediate = 0, layers = 0;
  std::uint64_t heads = 0, kv_heads = 0, head_dim = 0;  // head_dim is not hidden / heads
  bool tied = false;                                    // embedding and head are one matrix
  bool head_norms = true;  // a norm over each head of q and of k (Qwen3)
  bool qkv_bias = false;   // Qwen2

  std::uint64_t q_width() const { return heads * head_dim; }
  std::uint64_t kv_width() const { return kv_heads * head_dim; }
  std::uint64_t layer_parameters() const;
  std::uint64_t embedding_parameters() const { return vocabulary * hidden; }  // of each matrix
  std::uint64_t parameters() const;

  bool operator==(const ModelShape&) const = default;
};

// The six published dense sizes of Qwen3: "qwen3-0.6b" to "qwen3-32b".
std::span<const ModelShape> known_models();
// "qwen3-32b", "Qwen3-32B", "Qwen/Qwen3-32B"; nothing for others.
const ModelShape* find_model(std::string_view name);

// config.json of a Hugging Face folder, of qwen3, qwen2, llama or mistral. Errc::unsupported for
// another model_type, by name; Errc::invalid_input where a number is missing or beyond reason.
Result<ModelShape> read_model_shape(std::string_view config_json);

}  // namespace muster::cost
