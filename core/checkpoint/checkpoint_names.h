#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::checkpoint {

// What a file of a checkpoint is by its name.
enum class FileKind : std::uint8_t {
  other,
  safetensors,
  index,          // model.safetensors.index.json, pytorch_model.bin.index.json
  torch,          // by torch.save: .pt .pth .ckpt, .bin of weights; a zip, or a pickle of old
  dcp_shard,      // __3_0.distcp
  dcp_metadata,   // .metadata
  trainer_state,  // trainer_state.json of the Hugging Face Trainer
  manifest,       // our own
  json,           // config.json and its kind
  tracker,        // `latest`, latest_checkpointed_iteration.txt: names the newest
  marker,         // COMPLETE, _SUCCESS: says that a save has ended
  temporary       // still under the name of a file that is being written
};

// `name` may hold folders; the last part counts.
FileKind kind_of_file(std::string_view name);

// The step that a name tells: "checkpoint-500", "step_000800", "global_step40", "iter_0000480",
// "epoch=2-step=300.ckpt", "ep0-ba480-rank0.pt", "ckpt_500.pt", "500". An epoch counts where
// nothing finer is told.
std::optional<std::uint64_t> step_of_name(std::string_view base);

// Folders and files that savers use until a save has ended: "tmp-checkpoint-500",
// "step-500.partial-12-0", ".saving-step-500", ".metadata.tmp".
bool is_temporary_name(std::string_view base);

// A part of a checkpoint under whose parent the others lie: "optimizer_0", "pytorch_model_fsdp_0",
// "mp_rank_00", "state".
bool is_component_name(std::string_view base);

// Who wrote it, where a file tells one rank: "__3_0.distcp", "rng_state_3.pth",
// "zero_pp_rank_3_mp_rank_00_optim_states.pt", "ep0-ba480-rank3.pt".
std::optional<std::uint64_t> rank_of_file(std::string_view name);

// "model-00002-of-00004.safetensors": part 2 of 4 of "model-#.safetensors".
struct ShardName {
  std::string family;
  std::uint64_t part = 0, parts = 0;
};
std::optional<ShardName> shard_of_file(std::string_view name);

// Folders first, then the name.
std::string_view last_part(std::string_view path);
std::string_view folder_part(std::string_view path);  // empty where there is none

}  // namespace muster::checkpoint
