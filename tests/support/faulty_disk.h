#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "edge/storage/disk.h"
#include "tests/support/fake_clock.h"

// A disk in memory that is as good or bad as it is told: slow on a fake clock, short, broken,
// without O_DIRECT, with a page cache that does not let go, or one that hangs. What it was asked is
// kept. Reads give no bytes: nobody looks at them.

namespace muster::testing_support {

struct DiskFaults {
  std::uint64_t bytes = 64 * storage::kBlockBytes;
  Duration read_time{};                           // a FakeClock moves on by it with each read
  std::map<std::uint64_t, std::int64_t> results;  // of the read at an offset: bytes or -errno
  std::int64_t every_result = INT64_MIN;          // of all reads, where it is set
  std::optional<Error> open_direct, open_deep, drop, residency, make;
  bool hangs = false;             // no read ends before release()
  bool direct_is_cached = false;  // O_DIRECT goes through the page cache in secret
  double left_after_drop = 0;     // share of the page cache
  double most_resident = 1;       // share of the file that memory has room for
  std::string file_system = "ext4";
  std::optional<std::uint64_t> available = 64ULL << 30;
  std::vector<Result<std::string>> fio;  // its answers, the last one again and again
};

class FaultyDisk final : public storage::Disk {
 public:
  explicit FaultyDisk(DiskFaults faults, FakeClock* clock = nullptr);
  ~FaultyDisk() override;

  storage::Place look(const std::string& path) override;
  Result<bool> is_folder(const std::string& path) override;
  Result<std::shared_ptr<storage::ReadTarget>> make(const std::string& folder, std::uint64_t bytes,
                                                    std::stop_token stop,
                                                    const Progress& progress) override;
  Result<std::shared_ptr<storage::ReadTarget>> open(const std::string& file) override;
  Result<std::string> fio(const std::vector<std::string>& arguments, Duration patience,
                          std::stop_token stop) override;

  // Lets reads that hang end.
  void release();
  // "make 8388608", "open direct 1", "drop", "fio --direct=1", in order.
  std::vector<std::string> asked() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// One stream of such a disk.
std::unique_ptr<storage::ReadQueue> faulty_queue(const DiskFaults& faults, FakeClock* clock);

}  // namespace muster::testing_support
