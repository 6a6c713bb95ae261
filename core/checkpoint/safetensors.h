#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// The safetensors form (https://github.com/huggingface/safetensors): eight bytes of length,
// little-endian, so many bytes of JSON, then the data of all tensors without a hole between them.
// A file is whole exactly where its size is what its header says; nothing more is told by it:
// a flipped byte of data looks like any other.

namespace muster::checkpoint {

// Of the form itself: a longer header is refused by every reader.
inline constexpr std::uint64_t kSafetensorsHeaderBytes = 100'000'000;

struct SavedTensor {
  std::string name;
  std::string dtype;  // "BF16", "F32" ..., as written
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes, from the start of the data

  bool operator==(const SavedTensor&) const = default;
};

struct SafetensorsHeader {
  std::vector<SavedTensor> tensors;  // in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t data_begin = 0;  // from the start of the file

  std::uint64_t data_bytes() const { return tensors.empty() ? 0 : tensors.back().end; }
  std::uint64_t file_bytes() const { return data_begin + data_bytes(); }
  const SavedTensor* find(std::string_view name) const;
};

// Bits of one number of a type; nothing for a type that this program does not know.
std::optional<std::uint64_t> tensor_bits(std::string_view dtype);
// Bytes of the data; nothing where the type is not known or 64 bits do not hold it.
std::optional<std::uint64_t> tensor_bytes(std::string_view dtype,
                                          const std::vector<std::uint64_t>& shape);

// Where the data begins, by the first eight bytes of the file. Errc::corrupt where they are fewer,
// or no length of a header.
Result<std::uint64_t> safetensors_data_begin(std::string_view first_bytes);

// `head`: the first safetensors_data_begin() bytes of the file. Errc::corrupt: no JSON, a name that
// comes twice, a span that is not that of shape and type, a hole or overlap of the data.
// Errc::exhausted: a header of more than limits::kContractBytes, some 100,000 tensors.
Result<SafetensorsHeader> parse_safetensors(std::string_view head);

// The head of a file: `tensors` lie in their order without holes, which sets their begin and end.
// Padded with blanks so that the data begins at a multiple of eight.
std::string encode_safetensors(std::vector<SavedTensor>& tensors,
                               const std::vector<std::pair<std::string, std::string>>& metadata = {
                                   {"format", "pt"}});

}  // namespace muster::checkpoint
