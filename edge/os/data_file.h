#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

// Files of data that are too large to hold: read and written at any place, by several threads at
// once. What is small is read and replaced whole (edge/os/files.h).

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
  friend class DataWriter;
  class Descriptor;
  DataReader(std::shared_ptr<const Descriptor> fd, std::string path, std::uint64_t bytes);

  std::shared_ptr<const Descriptor> fd_;
  std::string path_;
  std::uint64_t bytes_;
};

class DataWriter {
 public:
  // A new file, of the mode that the umask leaves. Errc::invalid_input where the name is taken.
  static Result<DataWriter> create(const std::string& path);

  Status write_at(std::uint64_t offset, std::string_view bytes) const;
  // What was written is on the disk.
  Status sync() const;

 private:
  DataWriter(std::shared_ptr<const DataReader::Descriptor> fd, std::string path);

  std::shared_ptr<const DataReader::Descriptor> fd_;
  std::string path_;
};

// A file or folder that appears whole under its name or not at all: written under a name of its own
// beside it, then renamed, never over something that is there.
class NewPath {
 public:
  enum class Kind : std::uint8_t { file, folder };
  // Errc::invalid_input where `path` is taken. A folder is made at once, a file by whoever writes
  // it.
  static Result<NewPath> begin(const std::string& path, Kind kind);
  NewPath(NewPath&& other) noexcept;
  NewPath& operator=(NewPath&&) = delete;
  ~NewPath();  // what was not kept is removed, a folder with the files in it

  const std::string& place() const { return place_; }  // where to write until then
  // After the sync() of all that was written.
  Status keep();

 private:
  NewPath(std::string path, std::string place, Kind kind);

  std::string path_, place_;
  Kind kind_;
};

}  // namespace muster
