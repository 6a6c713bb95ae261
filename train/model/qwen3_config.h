#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace muster::train {

// config.json of a dense Qwen3 model. No field has a default of its own: those of the published
// class describe no published model.
struct Qwen3Config {
  std::uint64_t vocabulary = 0, hidden = 0, intermediate = 0, layers = 0;
  std::uint64_t heads = 0, kv_heads = 0, head_dim = 0;  // head_dim is not hidden / heads
  double norm_epsilon = 1e-6;
  double rope_theta = 1e6;  // top level, or in rope_parameters as transformers 5 writes it
  std::uint64_t max_positions = 0;
  bool tied = false;

  bool operator==(const Qwen3Config&) const = default;
};

// Errc::invalid_input: not JSON, a number missing or beyond its limit, heads that do not divide.
// Errc::unsupported, by name: another model type, biases, sliding windows, rope scaling, dropout,
// another activation than silu.
Result<Qwen3Config> read_qwen3_config(std::string_view json);

}  // namespace muster::train
