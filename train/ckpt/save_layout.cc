#include "train/ckpt/save_layout.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/model/json_writer.h"

namespace muster::train {

using checkpoint::SavedTensor;

std::vector<WeightsFile> weights_files(const UnitPlan& plan, std::uint64_t file_bytes) {
  constexpr std::uint64_t kBytes = 2;
  std::vector<WeightsFile> out;
  std::uint64_t filled = 0;
  for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
    const std::uint64_t bytes = plan.units()[unit].elements * kBytes;
    if (out.empty() || filled + bytes > file_bytes) {
      out.push_back({});
      out.back().first_unit = unit;
      filled = 0;
    }
    ++out.back().units;
    filled += bytes;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    WeightsFile& file = out[i];
    file.name = out.size() == 1
                    ? "model.safetensors"
                    : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, out.size());
    std::vector<SavedTensor> tensors;
    for (std::size_t unit = file.first_unit; unit < file.first_unit + file.units; ++unit) {
      for (const TensorSpec& tensor : plan.units()[unit].tensors) {
        tensors.push_back({tensor.name, "BF16", tensor.shape, 0, 0});
      }
    }
    file.head = checkpoint::encode_safetensors(tensors);
    file.bytes = file.head.size() + tensors.back().end;
  }
  return out;
}

std::string weights_index(const UnitPlan& plan, const std::vector<WeightsFile>& files) {
  if (files.size() < 2) return {};
  std::uint64_t total = 0;
  for (const WeightsFile& file : files) total += file.bytes - file.head.size();
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().key("total_size").value(total).end_object();
  w.key("weight_map").begin_object();
  for (const WeightsFile& file : files) {
    for (std::size_t unit = file.first_unit; unit < file.first_unit + file.units; ++unit) {
      for (const TensorSpec& tensor : plan.units()[unit].tensors) {
        w.key(tensor.name).value(file.name);
      }
    }
  }
  return w.end_object().end_object().take() + "\n";
}

std::string state_name(std::uint64_t shard, std::uint64_t shards) {
  return fmt::format("state/rank-{:05}-of-{:05}.safetensors", shard, shards);
}

StateFile state_file(const UnitPlan& plan, Dtype dtype, std::uint64_t shard, std::uint64_t shards) {
  StateFile out;
  out.name = state_name(shard, shards);
  for (std::size_t unit = 0; unit < plan.units().size(); ++unit) {
    for (const std::string_view part : kStateParts) {
      out.tensors.push_back({fmt::format("{}.{}", plan.units()[unit].name, part),
                             dtype == Dtype::f64 ? "F64" : "F32",
                             {plan.slice(unit, shards)},
                             0,
                             0});
    }
  }
  out.head = checkpoint::encode_safetensors(
      out.tensors, {{"shard", std::to_string(shard)}, {"shards", std::to_string(shards)}});
  out.bytes = out.head.size() + out.tensors.back().end;
  return out;
}

}  // namespace muster::train
