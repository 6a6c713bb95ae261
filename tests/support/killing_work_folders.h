#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "edge/os/work_folder.h"

namespace muster {

// Real work folders in a process that kills itself with SIGKILL at a chosen call; an append() is
// done by half before that. For children of tests.
class KillingWorkFolders final : public WorkFolders {
 public:
  explicit KillingWorkFolders(std::uint64_t last_call) : last_call_(last_call) {}
  bool has(const std::string& path) override { return real_work_folders().has(path); }
  Result<std::unique_ptr<WorkFolder>> make(const std::string& path) override;
  Result<std::unique_ptr<WorkFolder>> take(const std::string& path) override;

  // Whether this call is the last one; ends the process where `now` says so.
  bool last(bool now = true);

 private:
  std::uint64_t last_call_, calls_ = 0;
};

}  // namespace muster
