#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/blocks/id_type.h"

namespace muster::blocks {

// The head of a numpy .npy file (format 1.0, 2.0 and 3.0) of ids.
struct NpyHeader {
  IdType type = IdType::i32;
  std::vector<std::uint64_t> shape;  // one or two dimensions, in C order
  std::uint64_t data_at = 0;         // where the ids begin

  std::uint64_t ids() const { return shape.size() == 2 ? shape[0] * shape[1] : shape[0]; }
};

inline constexpr std::size_t kNpyHeadBytes = 4096;  // more than any header of two dimensions

// `head`: the first bytes of a file of `file_bytes`, kNpyHeadBytes where it has so many. Refuses
// what is no little-endian whole number, Fortran order, other dimensions, and a file that is not
// as long as its shape says.
Result<NpyHeader> parse_npy_header(std::string_view head, std::uint64_t file_bytes);
// Format 1.0, little-endian int32, the data at a multiple of 64.
std::string npy_header(std::uint64_t rows, std::uint64_t columns);

}  // namespace muster::blocks
