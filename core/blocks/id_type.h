#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::blocks {

// How other programs store ids: little-endian whole numbers.
enum class IdType : std::uint8_t { u8, i8, i16, i32, i64, u16, u32, u64 };

std::uint32_t id_bytes(IdType type);

// Appends the ids in `bytes`, a whole number of them. Errc::invalid_input with the place of the
// first that is no id, below 0 or beyond 2^31 - 1.
Status append_ids(IdType type, std::string_view bytes, std::vector<std::int32_t>& out);

}  // namespace muster::blocks
