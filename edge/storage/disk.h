#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/storage/storage_answer.h"
#include "edge/storage/read_queue.h"

// The storage of the machine as one narrow interface: real_disk() is the machine, tests/support has
// one that is slow, short or broken on purpose. Any call may hang where a file server does; the
// caller makes them on a thread that it can leave behind.

namespace muster::storage {

// A file that a measurement reads. Safe from several threads.
class ReadTarget {
 public:
  virtual ~ReadTarget() = default;
  virtual std::uint64_t bytes() const = 0;
  // A path of the same file for another program, good while this lives.
  virtual std::string path() const = 0;
  // Whether fewer bytes lie on the device than are read of it.
  virtual bool compressed() const { return false; }
  // Errc::unsupported where O_DIRECT is refused.
  virtual Result<std::unique_ptr<ReadQueue>> open(bool direct, std::uint32_t depth) = 0;
  // The share of the file's first `bytes` in the page cache, 0 to 1. Errc::permission where the
  // kernel does not tell this user: it would call everything resident.
  virtual Result<double> residency(std::uint64_t bytes) = 0;
  // Has the kernel write out what of the file it still keeps, and asks it to let the pages go;
  // residency() proves whether it did.
  virtual Status drop_cache() = 0;
};

class Disk {
 public:
  using Progress = std::function<void(std::uint64_t)>;  // bytes so far

  virtual ~Disk() = default;
  virtual Place look(const std::string& path) = 0;
  virtual Result<bool> is_folder(const std::string& path) = 0;
  // A new file without a name in the folder, full of bytes that no device can compress, on the
  // device and out of the page cache. It is gone with the last that uses it, also when the process
  // is killed. Errc::exhausted where it would leave less than reserve_bytes(), Errc::unavailable
  // where `stop` came first.
  virtual Result<std::shared_ptr<ReadTarget>> make(const std::string& folder, std::uint64_t bytes,
                                                   std::stop_token stop,
                                                   const Progress& progress) = 0;
  // A file that is there, to be read only. Errc::invalid_input for what is no regular file or has
  // holes, which are read without a device.
  virtual Result<std::shared_ptr<ReadTarget>> open(const std::string& file) = 0;
  // Standard output of fio. Errc::not_found where it is not installed, Errc::timeout where it did
  // not end within `patience`, Errc::unavailable where `stop` came first or it failed.
  virtual Result<std::string> fio(const std::vector<std::string>& arguments, Duration patience,
                                  std::stop_token stop) = 0;
};

Disk& real_disk();

}  // namespace muster::storage
