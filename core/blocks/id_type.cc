#include "core/blocks/id_type.h"

#include <fmt/core.h>

#include <cstring>
#include <limits>

#include "base/check.h"

namespace muster::blocks {
namespace {

template <typename T>
Status append_as(std::string_view bytes, std::vector<std::int32_t>& out) {
  const std::size_t count = bytes.size() / sizeof(T), base = out.size();
  out.resize(base + count);
  for (std::size_t i = 0; i < count; ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    bool fits = true;
    if constexpr (std::numeric_limits<T>::is_signed) fits = value >= 0;
    if constexpr (sizeof(T) >= 4) {
      fits = fits && static_cast<std::uint64_t>(value) <= std::uint64_t{INT32_MAX};
    }
    if (!fits) {
      return make_error(Errc::invalid_input, fmt::format("number {} is {}: no id", i, value));
    }
    out[base + i] = static_cast<std::int32_t>(value);
  }
  return {};
}

}  // namespace

std::uint32_t id_bytes(IdType type) {
  constexpr std::uint32_t kBytes[] = {1, 1, 2, 4, 8, 2, 4, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

Status append_ids(IdType type, std::string_view bytes, std::vector<std::int32_t>& out) {
  MUSTER_CHECK(bytes.size() % id_bytes(type) == 0, "whole ids");
  switch (type) {
    case IdType::u8:
      return append_as<std::uint8_t>(bytes, out);
    case IdType::i8:
      return append_as<std::int8_t>(bytes, out);
    case IdType::i16:
      return append_as<std::int16_t>(bytes, out);
    case IdType::i32:
      return append_as<std::int32_t>(bytes, out);
    case IdType::i64:
      return append_as<std::int64_t>(bytes, out);
    case IdType::u16:
      return append_as<std::uint16_t>(bytes, out);
    case IdType::u32:
      return append_as<std::uint32_t>(bytes, out);
    case IdType::u64:
      return append_as<std::uint64_t>(bytes, out);
  }
  return {};
}

}  // namespace muster::blocks
