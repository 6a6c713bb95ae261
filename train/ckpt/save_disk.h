#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::train {

// A file that grows at its end, under a name that nobody had.
class SaveFile {
 public:
  virtual ~SaveFile() = default;
  virtual Status append(std::string_view bytes) = 0;
  virtual Status sync() = 0;  // what was written outlives a loss of power
};

class LoadFile {
 public:
  virtual ~LoadFile() = default;
  virtual std::uint64_t bytes() const = 0;
  // Fills all of `out`; Errc::corrupt where the file ends before.
  virtual Status read_at(std::uint64_t offset, std::span<char> out) = 0;
};

// What checkpoints ask of a file system. real_save_disk() is the machine; tests have one that fails
// on purpose. Any thread.
class SaveDisk {
 public:
  virtual ~SaveDisk() = default;
  // Names in a folder, sorted; Errc::not_found where there is none.
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  virtual bool has(const std::string& path) = 0;
  // With those above it; one that is there is fine.
  virtual Status make_folder(const std::string& path) = 0;
  virtual Result<std::unique_ptr<SaveFile>> create(const std::string& path) = 0;
  virtual Result<std::unique_ptr<LoadFile>> open(const std::string& path) = 0;
  // Replaces the file whole, and past a loss of power.
  virtual Status write_whole(const std::string& path, std::string_view bytes) = 0;
  // Never over something that is there.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  // Each takes the other's name, at once. Errc::unsupported where the kernel or the file system has
  // no such call.
  virtual Status exchange(const std::string& one, const std::string& other) = 0;
  // With all below; links are removed, not followed. What is not there is fine.
  virtual Status remove(const std::string& path) = 0;
  // The names in a folder outlive a loss of power.
  virtual Status sync_folder(const std::string& path) = 0;
  // Bytes that this user may still write.
  virtual Result<std::uint64_t> room(const std::string& folder) = 0;
};

SaveDisk& real_save_disk();

// The whole file, at most `most` bytes; a longer one is Errc::exhausted.
Result<std::string> read_small(SaveDisk& disk, const std::string& path, std::uint64_t most);

}  // namespace muster::train
