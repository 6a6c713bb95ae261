#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::storage {

// One stream's reads: whole blocks of one file into buffers of its own, several in flight where it
// was opened so. One thread. A queue that is destroyed with reads in flight leaves them to the
// kernel: their pages stay with it until they end.
class ReadQueue {
 public:
  struct Done {
    std::uint32_t slot = 0;
    std::int64_t result = 0;  // bytes read, 0 at the end of the file, or -errno
  };

  virtual ~ReadQueue() = default;
  // How it reads: "pread", "io_uring", "libaio", "threads".
  virtual std::string_view engine() const = 0;
  // Starts to read the block at `offset` in a slot (below the depth) that has nothing in flight.
  virtual Status submit(std::uint32_t slot, std::uint64_t offset) = 0;
  // Waits until at least one read has ended, and appends those that have.
  virtual Status wait(std::vector<Done>& done) = 0;
};

enum class QueueEngine : std::uint8_t { io_uring, libaio, threads };

// Of depth 1: one pread() after the other. `fd` is taken over.
Result<std::unique_ptr<ReadQueue>> open_single_queue(int fd, std::size_t block_bytes);
// Errc::unsupported where this kernel or container does not have the engine.
Result<std::unique_ptr<ReadQueue>> open_deep_queue(QueueEngine engine, int fd, std::uint32_t depth,
                                                   std::size_t block_bytes);
// The first engine that is there: io_uring (often forbidden in containers), libaio, threads.
Result<std::unique_ptr<ReadQueue>> open_deep_queue(int fd, std::uint32_t depth,
                                                   std::size_t block_bytes);

}  // namespace muster::storage
