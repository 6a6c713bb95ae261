#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

// The end of a zip file, which is what torch.save writes last: its record of the end and, before
// that, the directory of what lies in it. A file that was cut has none. Names and places are
// compared with the size of the file; nothing is unpacked, and no pickle in it is looked at.

namespace muster::checkpoint {

// The record of the end lies in the last so many bytes: a comment of the longest, the record, and
// the two records of zip64 before it.
inline constexpr std::uint64_t kZipTailBytes = 65535 + 22 + 20 + 56;

struct ZipEnd {
  std::uint64_t entries = 0;
  // From the start of the file.
  std::uint64_t directory_begin = 0, directory_bytes = 0;
  // What stands before the archive: of several zips in a row the last one is found.
  std::uint64_t archive_begin = 0;
};

// `tail`: the last bytes of a file of `file_bytes`, kZipTailBytes or all of it. Errc::corrupt where
// no record of an end is found, or what it tells does not fit into the file.
Result<ZipEnd> find_zip_end(std::string_view tail, std::uint64_t file_bytes);

// `directory`: its bytes. Errc::corrupt: not so many entries, or one that lies outside of the file.
Status check_zip_directory(std::string_view directory, const ZipEnd& end);

}  // namespace muster::checkpoint
