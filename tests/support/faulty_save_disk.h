#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/ckpt/save_disk.h"

namespace muster::train {

// Another disk, with faults on purpose. Calls are counted over the disk and its files; several
// threads may call.
class FaultySaveDisk final : public SaveDisk {
 public:
  explicit FaultySaveDisk(SaveDisk& under) : under_(under) {}

  std::optional<std::uint64_t> failing_call;  // this one fails (0 is the first)
  std::optional<std::uint64_t> room_bytes;    // what room() says
  bool exchanges = true;                      // without it exchange() is unsupported
  std::function<void()> before_call;          // anything: a test may end its process here
  bool syncs = true;  // without it nothing waits for the device: where the power stays on

  std::uint64_t calls() const { return calls_; }

  Result<std::vector<std::string>> list(const std::string& folder) override;
  bool has(const std::string& path) override { return under_.has(path); }
  Status make_folder(const std::string& path) override;
  Result<std::unique_ptr<SaveFile>> create(const std::string& path) override;
  Result<std::unique_ptr<LoadFile>> open(const std::string& path) override;
  Status write_whole(const std::string& path, std::string_view bytes) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status exchange(const std::string& one, const std::string& other) override;
  Status remove(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::uint64_t> room(const std::string& folder) override;

  Status next();  // counts a call, which may fail

 private:
  SaveDisk& under_;
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace muster::train
