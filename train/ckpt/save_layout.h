#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/safetensors.h"
#include "train/model/dtype.h"
#include "train/model/unit_plan.h"

// What stands where in a checkpoint: a function of the plan alone, so that every rank knows it.

namespace muster::train {

// One file of weights in bf16: whole units, of each the tensors in the order of the plan, which is
// how they lie in memory.
struct WeightsFile {
  std::string name;  // "model-00001-of-00014.safetensors"; "model.safetensors" where it is the only
  std::size_t first_unit = 0, units = 0;
  std::string head;
  std::uint64_t bytes = 0;  // of the file
};

// Files of about `file_bytes`, one unit at least.
std::vector<WeightsFile> weights_files(const UnitPlan& plan, std::uint64_t file_bytes);
// model.safetensors.index.json; empty where there is one file only.
std::string weights_index(const UnitPlan& plan, const std::vector<WeightsFile>& files);

// The exact state of one rank: of each unit its slices of master, first and second moment, as
// tensors "layer.0.master", "layer.0.first_moment", "layer.0.second_moment" of one dimension.
struct StateFile {
  std::string name;  // "state/rank-00000-of-00004.safetensors"
  std::string head;
  std::vector<checkpoint::SavedTensor> tensors;  // three for each unit
  std::uint64_t bytes = 0;
};
StateFile state_file(const UnitPlan& plan, Dtype dtype, std::uint64_t shard, std::uint64_t shards);
std::string state_name(std::uint64_t shard, std::uint64_t shards);

inline constexpr std::string_view kStateParts[] = {"master", "first_moment", "second_moment"};

}  // namespace muster::train
