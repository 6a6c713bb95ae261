#include "core/checkpoint/safetensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/memory_bytes.h"
#include "base/text.h"
#include "core/model/json_reader.h"
#include "core/model/json_writer.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

Error damaged(std::string text) {
  return make_error(Errc::corrupt, std::move(text));
}

std::optional<std::uint64_t> number(const JsonNode& node) {
  const auto* value = node.get<std::int64_t>();
  if (value != nullptr && *value >= 0) return static_cast<std::uint64_t>(*value);
  const auto* large = node.get<std::uint64_t>();
  return large != nullptr ? std::optional(*large) : std::nullopt;
}

std::optional<std::vector<std::uint64_t>> numbers(const JsonNode* node) {
  const auto* array = node == nullptr ? nullptr : node->get<JsonNode::Array>();
  if (array == nullptr) return std::nullopt;
  std::vector<std::uint64_t> out;
  for (const JsonNode& item : *array) {
    const auto value = number(item);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

// Names come from outside: an error holds them short and without control characters.
std::string shown(std::string_view name) {
  return escape_controls(name, 80);
}

Result<SavedTensor> read_tensor(const std::string& name, const JsonNode& node) {
  SavedTensor out;
  out.name = name;
  const JsonNode* dtype = node.find("dtype");
  const auto* type = dtype == nullptr ? nullptr : dtype->get<std::string>();
  const auto shape = numbers(node.find("shape"));
  const auto span = numbers(node.find("data_offsets"));
  if (type == nullptr || !shape || !span || span->size() != 2 || (*span)[0] > (*span)[1]) {
    return damaged(fmt::format("its header has no type, shape or place of {}", shown(name)));
  }
  out.dtype = *type;
  out.shape = *shape;
  out.begin = (*span)[0];
  out.end = (*span)[1];
  if (!tensor_bits(out.dtype)) return out;
  const auto bytes = tensor_bytes(out.dtype, out.shape);
  if (!bytes || *bytes != out.end - out.begin) {
    return damaged(fmt::format("its header gives {} {} bytes, and another size by its shape",
                               shown(name), out.end - out.begin));
  }
  return out;
}

Status read_metadata(const JsonNode& node, SafetensorsHeader& out) {
  const auto* object = node.get<JsonNode::Object>();
  if (object == nullptr) return damaged("__metadata__ of its header is no object");
  for (const auto& [key, value] : *object) {
    const auto* text = value.get<std::string>();
    if (text == nullptr) return damaged("__metadata__ of its header holds more than texts");
    out.metadata.emplace_back(key, *text);
  }
  return {};
}

// Order of the data, no holes, no name twice.
Status check_places(std::vector<SavedTensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const SavedTensor& a, const SavedTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  std::vector<std::string_view> names;
  for (const SavedTensor& tensor : tensors) {
    if (tensor.begin != end) {
      return damaged(fmt::format("its header places {} at {}, where {} is due", shown(tensor.name),
                                 tensor.begin, end));
    }
    end = tensor.end;
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    return damaged(fmt::format("its header names {} twice", shown(*twice)));
  }
  return {};
}

}  // namespace

const SavedTensor* SafetensorsHeader::find(std::string_view name) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [name](const SavedTensor& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

std::optional<std::uint64_t> tensor_bits(std::string_view dtype) {
  struct Row {
    std::string_view name;
    std::uint64_t bits;
  };
  static constexpr Row kRows[] = {{"BF16", 16}, {"F32", 32},    {"F16", 16},    {"F64", 64},
                                  {"I64", 64},  {"I32", 32},    {"I16", 16},    {"I8", 8},
                                  {"U64", 64},  {"U32", 32},    {"U16", 16},    {"U8", 8},
                                  {"BOOL", 8},  {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8},
                                  {"C64", 64},  {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}};
  for (const Row& row : kRows) {
    if (row.name == dtype) return row.bits;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> tensor_bytes(std::string_view dtype,
                                          const std::vector<std::uint64_t>& shape) {
  const auto bits = tensor_bits(dtype);
  if (!bits) return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::uint64_t total = *bits;
  for (const std::uint64_t side : shape) {
    if (total > kMost / side) return std::nullopt;
    total *= side;
  }
  return total % 8 == 0 ? std::optional(total / 8) : std::nullopt;
}

Result<std::uint64_t> safetensors_data_begin(std::string_view first_bytes) {
  if (first_bytes.size() < sizeof(std::uint64_t)) return damaged("it ends inside of its header");
  std::uint64_t length = 0;
  std::memcpy(&length, first_bytes.data(), sizeof length);
  if (length < 2 || length > kSafetensorsHeaderBytes) {
    return damaged(fmt::format("its first bytes are no length of a header ({})", length));
  }
  return sizeof length + length;
}

Result<SafetensorsHeader> parse_safetensors(std::string_view head) {
  SafetensorsHeader out;
  const auto begin = safetensors_data_begin(head);
  if (!begin) return begin.error();
  out.data_begin = *begin;
  if (head.size() < *begin) return damaged("it ends inside of its header");
  const auto document = parse_json(head.substr(sizeof(std::uint64_t), *begin - 8));
  if (!document && document.error().code == Errc::exhausted) return document.error();
  const auto* object = document ? document->get<JsonNode::Object>() : nullptr;
  if (object == nullptr) return damaged("its header is no JSON object");
  bool described = false;
  for (const auto& [name, node] : *object) {
    if (name == "__metadata__") {
      if (described) return damaged("its header names __metadata__ twice");
      described = true;
      if (Status read = read_metadata(node, out); !read) return read.error();
      continue;
    }
    auto tensor = read_tensor(name, node);
    if (!tensor) return tensor.error();
    out.tensors.push_back(std::move(*tensor));
  }
  if (Status sound = check_places(out.tensors); !sound) return sound.error();
  return out;
}

std::string encode_safetensors(std::vector<SavedTensor>& tensors,
                               const std::vector<std::pair<std::string, std::string>>& metadata) {
  JsonWriter w;
  w.begin_object();
  if (!metadata.empty()) {
    w.key("__metadata__").begin_object();
    for (const auto& [key, value] : metadata) w.key(key).value(value);
    w.end_object();
  }
  std::uint64_t at = 0;
  for (SavedTensor& tensor : tensors) {
    const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
    MUSTER_CHECK(bytes && at <= kMost - *bytes, "tensors that are saved have a size");
    tensor.begin = at;
    tensor.end = at += *bytes;
    w.key(tensor.name).begin_object().key("dtype").value(tensor.dtype).key("shape").begin_array();
    for (const std::uint64_t side : tensor.shape) w.value(side);
    w.end_array().key("data_offsets").begin_array().value(tensor.begin).value(tensor.end);
    w.end_array().end_object();
  }
  std::string json = w.end_object().take();
  json.append((8 - json.size() % 8) % 8, ' ');
  MUSTER_CHECK(json.size() <= kSafetensorsHeaderBytes, "a header that readers take");
  const std::uint64_t length = json.size();
  return std::string(memory_bytes(std::span(&length, 1))) + json;
}

}  // namespace muster::checkpoint
