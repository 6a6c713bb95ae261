#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "edge/os/work_folder.h"

namespace muster {

// Work folders in memory, with a disk that may fail or lose its power. Not thread safe.
class MemoryWorkFolders final : public WorkFolders {
 public:
  struct File {
    std::string bytes, synced;
    bool known = false;  // has been synced once: its name outlives a loss of power
  };
  struct Folder {
    std::map<std::string, std::shared_ptr<File>> files;
    bool taken = false;
  };

  // The disk is gone from this call on (0 is the first), which may have done a part of its work.
  std::optional<std::uint64_t> power_ends;
  // This call alone fails.
  std::optional<std::uint64_t> failing_call;
  std::uint64_t calls = 0;

  // What a loss of power left: of each file what was synced, and of the bytes behind that, by
  // `chance`, all, none, the first ones, or zeros; who held folders is gone.
  void lose_power(const std::function<std::uint64_t()>& chance);

  bool has(const std::string& path) override { return folders_.contains(path); }
  Result<std::unique_ptr<WorkFolder>> make(const std::string& path) override;
  Result<std::unique_ptr<WorkFolder>> take(const std::string& path) override;

  // What a disk that lied has of a file.
  void replace(const std::string& folder, const std::string& name, const std::string& bytes);
  // The bytes of a file in a folder; empty where there is none.
  std::string text(const std::string& folder, const std::string& name) const;

 private:
  friend class MemoryWorkFolder;
  friend class MemoryWorkFile;
  Status next(bool* partly = nullptr);

  std::map<std::string, std::shared_ptr<Folder>> folders_;
};

}  // namespace muster
