#include "core/blocks/npy_header.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace muster::blocks {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct TypeName {
  std::string_view name;
  IdType type;
};
constexpr TypeName kTypes[] = {{"|u1", IdType::u8},  {"|i1", IdType::i8},  {"<i2", IdType::i16},
                               {"<u2", IdType::u16}, {"<i4", IdType::i32}, {"<u4", IdType::u32},
                               {"<i8", IdType::i64}, {"<u8", IdType::u64}};

// What stands behind 'name': in the one-line dictionary that numpy writes.
std::string_view value_of(std::string_view dictionary, std::string_view name) {
  const std::string key = fmt::format("'{}':", name);
  const std::size_t at = dictionary.find(key);
  return at == std::string_view::npos ? "" : trim(dictionary.substr(at + key.size()));
}

// "(10, 2048)", "(10,)".
std::optional<std::vector<std::uint64_t>> shape_of(std::string_view text) {
  const std::size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) return std::nullopt;
  std::vector<std::uint64_t> out;
  for (const std::string_view part : split(text.substr(1, close - 1), ',')) {
    if (trim(part).empty()) continue;
    const auto number = parse_uint(trim(part));
    if (!number || *number > limits::kPackBlocks || out.size() == 2) return std::nullopt;
    out.push_back(*number);
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

Error refuse(std::string text) {
  return make_error(Errc::unsupported, std::move(text));
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view head, std::uint64_t file_bytes) {
  if (!head.starts_with(kMagic) || head.size() < 12) {
    return make_error(Errc::invalid_input, "no .npy file");
  }
  const auto byte = [&](std::size_t at) {
    return std::size_t{static_cast<unsigned char>(head[at])};
  };
  const std::size_t version = byte(6), begin = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) return refuse(fmt::format("version {} of .npy", version));
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > head.size() - begin) {
    return make_error(Errc::corrupt, "its header is longer than the file or any that is known");
  }
  const std::string_view dictionary = head.substr(begin, length);
  NpyHeader out;
  out.data_at = begin + length;
  const std::string_view type = value_of(dictionary, "descr");
  bool known = false;
  for (const TypeName& row : kTypes) {
    if (!type.starts_with(fmt::format("'{}'", row.name))) continue;
    out.type = row.type;
    known = true;
  }
  if (!known) return refuse("its type is no little-endian whole number");
  if (!value_of(dictionary, "fortran_order").starts_with("False")) return refuse("Fortran order");
  auto shape = shape_of(value_of(dictionary, "shape"));
  if (!shape) return refuse("its shape is not of one or two dimensions of a pack's size");
  out.shape = std::move(*shape);
  if (out.shape.size() == 2 && out.shape[1] > limits::kPackBlockTokens) {
    return refuse(fmt::format("rows of {} ids", out.shape[1]));
  }
  if (file_bytes != out.data_at + out.ids() * id_bytes(out.type)) {
    return make_error(Errc::corrupt, fmt::format("{} bytes, its shape makes {}", file_bytes,
                                                 out.data_at + out.ids() * id_bytes(out.type)));
  }
  return out;
}

std::string npy_header(std::uint64_t rows, std::uint64_t columns) {
  std::string dictionary =
      fmt::format("{{'descr': '<i4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t kFront = 10;
  dictionary.append(63 - (kFront + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff),
          static_cast<char>(dictionary.size() >> 8)};
  return out + dictionary;
}

}  // namespace muster::blocks
