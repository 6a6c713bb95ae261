#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// Files as one narrow interface: real_files() is the machine, tests/support has one in memory and
// one that fails on purpose. All stand the same contract suite (tests/contract/files_test.cc).

namespace muster {

// Bytes in order. Not thread safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Bytes read into the front of `buffer`; 0 at the end. May return fewer than asked.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
  // Waits at most `wait` until read() would not wait: bytes are there, or the end is. Only pipes,
  // terminals and standard input ever wait; the end of a pipe is where its last writer has gone.
  virtual bool ready(Duration /*wait*/) { return true; }
};

struct FileInfo {
  enum class Type : std::uint8_t { file, folder, other };
  Type type = Type::other;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;  // changes when another file takes the name
  WallTime modified{};
  bool link = false;  // the name is a symbolic link; all else tells of what it points to
  // Who may have written it, or set the link: root and whoever runs this; another user as well, who
  // owns it; or anybody.
  enum class Writer : std::uint8_t { trusted, another_user, anybody };
  Writer writer = Writer::trusted;
};

class Files {
 public:
  virtual ~Files() = default;
  // "-" is standard input (real files only). A pipe without a writer opens at once and its reads
  // wait. Where a process may hold no more files, its limit is raised as far as the system lets it;
  // Errc::exhausted, with the way out, where that does not help.
  virtual Result<std::unique_ptr<ByteStream>> open(const std::string& path) = 0;
  // The file `name` ("a/b") below `folder`, as it was found there: no part of `name` may be a link,
  // and only a file is opened, whatever has taken its place since it was looked at.
  virtual Result<std::unique_ptr<ByteStream>> open_below(const std::string& folder,
                                                         const std::string& name) = 0;
  virtual Result<FileInfo> stat(const std::string& path) = 0;
  // Names in the folder, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  // Replaces the file or leaves the old one whole: write to a temporary name in the same folder,
  // fsync, rename. Mode 0600. A device or pipe is written into, never replaced.
  virtual Status write_atomic(const std::string& path, std::string_view bytes) = 0;
};

Files& real_files();

// The whole file, at most `max_bytes`: a longer one is Errc::exhausted. With `patience`, a pipe
// that gives nothing for so long is Errc::timeout.
Result<std::string> read_whole(Files& files, const std::string& path, std::size_t max_bytes,
                               std::optional<Duration> patience = {});

// errno as an Error: "opening n1.csv: No such file or directory".
Error errno_error(std::string_view while_doing, int error_number);

}  // namespace muster
