#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "edge/os/descriptor.h"

// A file of data that is too large to hold: read at any place, by several threads at once. What is
// small is read whole (edge/os/files.h).

namespace muster {

class DataReader {
 public:
  // Regular files only: whoever reads at a place needs a size.
  static Result<DataReader> open(const std::string& path);

  std::uint64_t bytes() const { return bytes_; }  // when it was opened
  const std::string& path() const { return path_; }
  // Fills all of `out` from `offset` on. Errc::corrupt where the file ends before: it was cut
  // since.
  Status read_at(std::uint64_t offset, std::span<char> out) const;

 private:
  DataReader(std::shared_ptr<const Descriptor> fd, std::string path, std::uint64_t bytes);

  std::shared_ptr<const Descriptor> fd_;
  std::string path_;
  std::uint64_t bytes_;
};

}  // namespace muster
