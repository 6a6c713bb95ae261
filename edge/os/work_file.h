#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// A file that grows at its end. Not thread safe.
class WorkFile {
 public:
  virtual ~WorkFile() = default;
  // On failure some of the bytes may stand there: cut() takes them away.
  virtual Status append(std::string_view bytes) = 0;
  // What was appended until now outlives a loss of power.
  virtual Status sync() = 0;
  // Takes away what lies behind so many bytes; Errc::corrupt where there are fewer.
  virtual Status cut(std::uint64_t bytes) = 0;
  // Bytes from `offset` on into the front of `buffer`; fewer than asked only at the end.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) = 0;
  virtual std::uint64_t bytes() const = 0;
};

// One on the disk, of the mode that the umask leaves. As it lies there, or new: Errc::invalid_input
// for `must_be_new` where the name is taken.
Result<std::unique_ptr<WorkFile>> open_work_file(const std::string& path, bool must_be_new);

// All names in the folder, and that of `path` in its own, outlive a loss of power. A file system
// that cannot do so loses nothing else and is no failure.
Status sync_folder(const std::string& folder);
Status sync_name(const std::string& path);

// Gives what is at `from` the name `to`, and never over something that is there: then it is
// Errc::invalid_input. Where the kernel or the file system has no such rename, an empty folder that
// another made just now may be replaced, and nothing else.
Status rename_to_new(const std::string& from, const std::string& to);

}  // namespace muster
