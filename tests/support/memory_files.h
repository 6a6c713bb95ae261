#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "edge/os/files.h"

namespace muster {

// Files in memory. What was not set up is not found; every path that was asked for is recorded, so
// a test can say what its subject looked at. A folder exists while something lies in it, or
// add_folder. Once set up, it may be used by several threads.
class MemoryFiles final : public Files {
 public:
  void add(const std::string& path, std::string bytes, WallTime modified = {});
  void add_folder(const std::string& path);

  Result<std::unique_ptr<ByteStream>> open(const std::string& path) override;
  Result<std::unique_ptr<ByteStream>> open_below(const std::string& folder,
                                                 const std::string& name) override;
  Result<FileInfo> stat(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status write_atomic(const std::string& path, std::string_view bytes) override;

  // Paths that were opened, in order. Not while threads still open some.
  const std::vector<std::string>& opened() const { return opened_; }

 private:
  struct File {
    std::string bytes;
    WallTime modified;
  };
  bool is_folder(const std::string& path) const;

  std::map<std::string, File> files_;
  std::vector<std::string> folders_;
  std::mutex opened_mutex_;
  std::vector<std::string> opened_;
};

}  // namespace muster
