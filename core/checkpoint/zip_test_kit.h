#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_bytes.h"

// Zip files of stored entries, as torch.save writes them, for tests.

namespace muster::checkpoint {

template <typename T>
std::string number_bytes(T value) {
  return std::string(memory_bytes(std::span<const T>(&value, 1)));
}

inline std::string zip_of(const std::vector<std::pair<std::string, std::string>>& files,
                          bool wide = false, const std::string& comment = "") {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  std::string out, directory;
  for (const auto& [name, bytes] : files) {
    const auto begin = static_cast<U32>(out.size());
    const auto size = static_cast<U32>(bytes.size());
    const auto length = static_cast<U16>(name.size());
    const std::string common = std::string(10, '\0') + number_bytes(U32{0}) + number_bytes(size) +
                               number_bytes(size) + number_bytes(length);
    out += "PK\3\4" + common + number_bytes(U16{0}) + name + bytes;
    directory += std::string("PK\1\2") + std::string(2, '\0') + common + number_bytes(U16{0}) +
                 std::string(10, '\0') + number_bytes(begin) + name;
    static_assert(sizeof begin == 4);
  }
  const auto at = static_cast<std::uint64_t>(out.size());
  const auto length = static_cast<std::uint64_t>(directory.size());
  out += directory;
  const auto count = static_cast<std::uint64_t>(files.size());
  if (wide) {
    const std::uint64_t record = out.size();
    out += "PK\6\6" + number_bytes(std::uint64_t{44}) + std::string(12, '\0') +
           number_bytes(count) + number_bytes(count) + number_bytes(length) + number_bytes(at);
    out +=
        std::string("PK\6\7") + std::string(4, '\0') + number_bytes(record) + number_bytes(U32{1});
  }
  const auto small = wide ? U16{0xffff} : static_cast<U16>(count);
  out += "PK\5\6" + number_bytes(U32{0}) + number_bytes(small) + number_bytes(small) +
         number_bytes(wide ? U32{0xffffffff} : static_cast<U32>(length)) +
         number_bytes(wide ? U32{0xffffffff} : static_cast<U32>(at)) +
         number_bytes(static_cast<U16>(comment.size())) + comment;
  return out;
}

}  // namespace muster::checkpoint
