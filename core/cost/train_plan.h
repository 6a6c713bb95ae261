#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/cost/model_shape.h"

// What full fine-tuning of a model needs of memory and network on given GPUs, and which of three
// walls its steps run into. Arithmetic on stated assumptions, all in this file:
//
// Memory of a GPU: states of its shard (weights in bf16, gradients, f32 master weights and two
//   moments); activations, for each token and layer 8 hidden + 6 (q + kv) + 8 intermediate bytes
//   (bf16, fused norms and attention), and 6 bytes a logit; buffers: three gathered layers, the
//   gathered embedding and head, two layers of gradients in f32. Of Qwen3-32B on 16 GPUs at 2048
//   tokens that is 84 GB; a field report of such a run measured 82. With gradient checkpointing a
//   layer keeps its input alone, and one layer is computed anew at a time, for a third more work.
// Save: while the run goes on, a copy of what is saved is held until it is written: master weights
//   and moments of the shard (bf16 weights alone without the exact state, which is less), and the
//   largest unit in bf16, gathered. In the memory of the host, which is not that of a GPU.
// Network: rings. Whoever holds 1 of W shards receives (W - 1) / W of what is gathered, and sends
//   as much of what is reduced. Between nodes the ports of a node carry its rings side by side.
// Step: compute, 6 FLOP a parameter and token at the assumed MFU of kernels that wait for nothing,
//   or the network, whichever is longer: it takes for granted that one hides behind the other.

namespace muster::cost {

enum class Sharding : std::uint8_t {
  full,          // gathered for forward and for backward of each micro batch, reduced after each
  keep_weights,  // gathered once a micro batch
  gather_once,   // gathered once a step; gradients summed unsharded, reduced once a step
  in_node,       // sharded over the GPUs of a node, gradients reduced across nodes once a step
};
std::string_view sharding_name(Sharding sharding);  // "full" "keep-weights" "gather-once" "in-node"

enum class Wall : std::uint8_t { compute, network, memory };
std::string_view wall_name(Wall wall);

struct PlanRequest {
  ModelShape model;
  std::string gpu;  // for people
  double peak_tflops = 0, memory_gb = 0, link_gb_s = 0, network_gb_s = 0;
  std::uint64_t node_gpus = 8, gpus = 1;
  std::uint64_t sequence = 2048, micro_batch = 1, accumulation = 8;
  double mfu = 0.40;  // NeMo and torchtitan report 33 to 41 % of dense models on H100
  std::uint64_t gradient_bytes = 2;  // 2: bf16; 4: f32 sums, as `muster train` keeps them
  bool checkpointing = false;
};

struct PlanRow {
  Sharding sharding = Sharding::full;
  std::uint64_t micro_batch = 1, accumulation = 1;
  bool checkpointing = false;
  double states_gb = 0, held_gb = 0, activations_gb = 0, buffers_gb = 0;  // of one GPU
  double save_gb = 0;  // more while a checkpoint is written; not in memory_gb(): see above
  bool fits = false;
  double received_gb = 0;  // by one GPU in one step
  double network_s = 0, compute_s = 0;
  Wall wall = Wall::compute;

  double memory_gb() const { return states_gb + held_gb + activations_gb + buffers_gb; }
  double step_s() const { return network_s > compute_s ? network_s : compute_s; }
};

struct TrainPlan {
  PlanRequest request;
  std::uint64_t nodes = 1;
  std::uint64_t step_tokens = 0;
  std::uint64_t bytes_per_parameter = 0;  // of states
  double states_gb = 0;                   // of all GPUs
  std::vector<PlanRow> rows;              // the first is what was asked for
  std::optional<std::size_t> best;        // the fastest that fits; of equals the one of less memory

  double tokens_per_s(const PlanRow& row) const;
};

// Part of a GPU's memory that a plan may fill: the rest is for the context, the buffers of
// collectives and what the allocator cannot use.
inline constexpr double kUsableMemory = 0.92;

// Errc::invalid_input, with what would do: a number that is zero or beyond reason, GPUs that are no
// whole nodes.
Result<TrainPlan> plan_training(const PlanRequest& request);

// What to do about it, one sentence each: the wall, a larger micro batch, gradient checkpointing,
// another way to shard; what a save needs.
std::vector<std::string> plan_advice(const TrainPlan& plan);

// docs/FORMATS.md, muster.plan/1.
std::string encode_train_plan(const TrainPlan& plan);

}  // namespace muster::cost
