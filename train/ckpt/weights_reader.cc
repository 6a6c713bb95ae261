#include "train/ckpt/weights_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "core/checkpoint/safetensors.h"
#include "core/model/json_reader.h"
#include "train/ckpt/checkpoint_store.h"
#include "train/model/bf16.h"

namespace muster::train {
namespace {

using checkpoint::SavedTensor;

constexpr std::uint64_t kChunkElements = 1 << 20;

// Half precision: 1 sign, 5 of exponent, 10 of fraction.
float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  std::uint32_t exponent = (bits >> 10) & 0x1fu;
  std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

template <typename From>
From number_at(const char* bytes, std::size_t i) {
  From value;
  std::memcpy(&value, bytes + i * sizeof value, sizeof value);
  return value;
}

// `count` numbers as they stand in the file into numbers of the state.
template <typename To>
void convert(std::string_view dtype, const char* bytes, To* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (dtype == "BF16") {
      out[i] = static_cast<To>(from_bf16(number_at<std::uint16_t>(bytes, i)));
    } else if (dtype == "F16") {
      out[i] = static_cast<To>(from_f16(number_at<std::uint16_t>(bytes, i)));
    } else if (dtype == "F32") {
      out[i] = static_cast<To>(number_at<float>(bytes, i));
    } else {
      out[i] = static_cast<To>(number_at<double>(bytes, i));
    }
  }
}

bool is_known(std::string_view dtype) {
  return dtype == "BF16" || dtype == "F16" || dtype == "F32" || dtype == "F64";
}

struct OpenFile {
  std::unique_ptr<LoadFile> file;
  checkpoint::SafetensorsHeader header;
};

Result<OpenFile> open_file(SaveDisk& disk, const std::string& path) {
  auto file = disk.open(path);
  if (!file) return file.error();
  OpenFile out;
  out.file = std::move(*file);
  std::string head(std::min<std::uint64_t>(8, out.file->bytes()), '\0');
  if (const Status read = out.file->read_at(0, head); !read) return read.error();
  const auto begin = checkpoint::safetensors_data_begin(head);
  if (!begin) return within("reading " + path, begin.error());
  if (*begin > out.file->bytes() || *begin > limits::kContractBytes) {
    return make_error(Errc::corrupt, "reading " + path + ": its header is longer than the file");
  }
  head.resize(*begin);
  if (const Status read = out.file->read_at(0, head); !read) return read.error();
  auto header = checkpoint::parse_safetensors(head);
  if (!header) return within("reading " + path, header.error());
  if (header->file_bytes() != out.file->bytes()) {
    return make_error(Errc::corrupt, fmt::format("reading {}: {} bytes, {} by its header", path,
                                                 out.file->bytes(), header->file_bytes()));
  }
  out.header = std::move(*header);
  return out;
}

// Names of the files in a folder that hold its weights.
Result<std::vector<std::string>> weight_files(SaveDisk& disk, const std::string& folder) {
  const std::string index = folder + "/model.safetensors.index.json";
  if (!disk.has(index)) {
    if (disk.has(folder + "/model.safetensors"))
      return std::vector<std::string>{"model.safetensors"};
    const auto names = disk.list(folder);
    if (!names) return names.error();
    const bool pickles = std::any_of(names->begin(), names->end(), [](const std::string& name) {
      return name.starts_with("pytorch_model") && name.find(".bin") != std::string::npos;
    });
    return pickles ? make_error(Errc::unsupported,
                                folder +
                                    ": weights in .bin files are pickles, which are not opened; "
                                    "save them as safetensors")
                   : make_error(Errc::not_found, folder + ": no model.safetensors is there");
  }
  const auto text = read_small(disk, index, limits::kContractBytes);
  if (!text) return text.error();
  const auto document = parse_json(*text);
  if (!document) return within("reading " + index, document.error());
  const JsonNode* map = document->find("weight_map");
  const auto* rows = map == nullptr ? nullptr : map->get<JsonNode::Object>();
  if (rows == nullptr) return make_error(Errc::corrupt, index + ": no weight_map in it");
  std::set<std::string> names;
  for (const auto& [tensor, node] : *rows) {
    const auto* name = node.get<std::string>();
    if (name == nullptr || name->empty() || name->find('/') != std::string::npos) {
      return make_error(Errc::corrupt, index + ": a file outside of its folder");
    }
    names.insert(*name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

class WeightsReader {
 public:
  explicit WeightsReader(ShardedState& state) : state_(state) {}

  Status open(SaveDisk& disk, const std::string& folder) {
    folder_ = folder;
    const auto names = weight_files(disk, folder);
    if (!names) return names.error();
    for (const std::string& name : *names) {
      auto file = open_file(disk, folder + "/" + name);
      if (!file) return file.error();
      files_.push_back(std::move(*file));
    }
    for (const OpenFile& file : files_) {
      for (const SavedTensor& tensor : file.header.tensors)
        tensors_[tensor.name] = {&file, &tensor};
    }
    return {};
  }

  Status read() {
    for (std::size_t unit = 0; unit < state_.units.size(); ++unit) {
      AlignedBytes& master = state_.units[unit].master;
      std::memset(master.data(), 0, master.size());
      for (const TensorSpec& spec : state_.plan->units()[unit].tensors) {
        if (Status read = tensor(unit, spec); !read) return read;
      }
    }
    return {};
  }

 private:
  struct Place {
    const OpenFile* file = nullptr;
    const SavedTensor* tensor = nullptr;
  };

  // The part of a tensor that lies in the slice of this rank.
  Status tensor(std::size_t unit, const TensorSpec& spec) {
    const std::uint64_t slice = state_.plan->slice(unit, state_.shards);
    const std::uint64_t from = state_.shard * slice;
    const std::uint64_t begin = std::max(from, spec.offset);
    const std::uint64_t end = std::min(from + slice, spec.offset + spec.elements());
    const auto it = tensors_.find(spec.name);
    if (it == tensors_.end()) {
      return make_error(Errc::not_found, fmt::format("{}: no tensor {}", folder_, spec.name));
    }
    const SavedTensor& saved = *it->second.tensor;
    if (saved.shape != spec.shape) {
      return make_error(Errc::invalid_input,
                        fmt::format("{}: {} has another shape than the model", folder_, spec.name));
    }
    if (!is_known(saved.dtype)) {
      return make_error(Errc::unsupported,
                        fmt::format("{}: {} holds numbers of type {}", folder_, spec.name,
                                    escape_controls(saved.dtype, 16)));
    }
    if (begin >= end) return {};
    return range(it->second, begin - spec.offset, end - begin, unit, begin - from);
  }

  // Elements [first, first + count) of a saved tensor to place `at` of the slice.
  Status range(const Place& place, std::uint64_t first, std::uint64_t count, std::size_t unit,
               std::uint64_t at) {
    const SavedTensor& saved = *place.tensor;
    const std::uint64_t wide = *checkpoint::tensor_bits(saved.dtype) / 8;
    std::byte* const out = state_.units[unit].master.data();
    for (std::uint64_t done = 0; done < count; done += kChunkElements) {
      const std::uint64_t part = std::min(kChunkElements, count - done);
      buffer_.resize(part * wide);
      const std::uint64_t offset =
          place.file->header.data_begin + saved.begin + (first + done) * wide;
      if (Status read = place.file->file->read_at(offset, buffer_); !read) return read;
      if (state_.dtype == Dtype::f64) {
        convert(saved.dtype, buffer_.data(), reinterpret_cast<double*>(out) + at + done, part);
      } else {
        convert(saved.dtype, buffer_.data(), reinterpret_cast<float*>(out) + at + done, part);
      }
    }
    return {};
  }

  ShardedState& state_;
  std::string folder_;
  std::vector<OpenFile> files_;
  std::map<std::string, Place> tensors_;
  std::string buffer_;
};

}  // namespace

Status load_weights_from(SaveDisk& disk, const std::string& folder, ShardedState& state) {
  WeightsReader reader(state);
  if (Status opened = reader.open(disk, folder); !opened) return opened;
  return reader.read();
}

Status load_weights(const std::string& model_folder, ShardedState& state) {
  return load_weights_from(real_save_disk(), model_folder, state);
}

}  // namespace muster::train
