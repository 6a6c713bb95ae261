#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/token_progress.h"
#include "base/result.h"
#include "core/blocks/step_plan.h"

namespace muster {

enum class PackForm : std::uint8_t { pack, ranks, megatron, numpy };

struct PackConvertRequest {
  std::vector<std::string> inputs;
  PackForm to = PackForm::pack;
  std::string out;  // a folder (pack, ranks), a prefix (megatron: .bin and .idx), a file (numpy)

  // To a pack. Ids of per-rank files and of numpy are one stream whose documents end behind each
  // `eos`; without it nobody knows where. Megatron's end where its index says.
  std::uint64_t block_tokens = 2048;
  std::optional<std::int32_t> eos;
  std::optional<std::uint64_t> vocabulary_count;

  // To per-rank files: blocks in the order in which each rank reads them.
  std::uint64_t world_size = 0;
  std::uint64_t global_batch = 0;
  std::optional<blocks::Remainder> remainder;  // nothing: what the manifest says
  std::uint64_t micro_batch = 1;
  std::uint64_t seed = 0, epoch = 0;
};

struct PackConverted {
  std::string summary;  // what was written, one line
};

// Between a pack and the forms of others, each known by its content: per-rank files of ids
// (rank_file.h; several, or a folder of them), Megatron's .idx with its .bin beside it (and
// PREFIX_loss_mask.idx, whose u8 tell what counts in the loss), .npy of ids, the folder of a pack.
// One of both sides is a pack. Streaming. What is there is never overwritten, and what is written
// appears whole or not at all; Megatron's index comes last.
Result<PackConverted> convert_pack(const PackConvertRequest& request,
                                   const TokenProgress& progress);

}  // namespace muster
