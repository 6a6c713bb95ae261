#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "edge/os/files.h"

namespace muster {

// One rank's ids of an older packer: NAME.i32, little-endian int32 back to back, no header.
struct RankFile {
  std::string path;
  std::uint64_t rank = 0;
  std::uint64_t bytes = 0;
};

// "rank03.i32" and "ids_rank3_of_16.i32": 3; without the word, the last number: "part-7.i32": 7.
// Nothing for a name that does not end in .i32 or has no rank below limits::kRanks.
std::optional<std::uint64_t> rank_of_name(std::string_view path);

// Nothing where `path` is no regular file of such a name.
std::optional<RankFile> rank_file(const std::string& path, Files& files);

}  // namespace muster
