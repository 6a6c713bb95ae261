#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "edge/storage/read_queue.h"

// The engines of open_deep_queue(), one each. `fd` is taken over, also in failure.
// Errc::unsupported where the kernel or the container refuses the engine.

namespace muster::storage {

Result<std::unique_ptr<ReadQueue>> open_uring_queue(int fd, std::uint32_t depth,
                                                    std::size_t block_bytes);
Result<std::unique_ptr<ReadQueue>> open_aio_queue(int fd, std::uint32_t depth,
                                                  std::size_t block_bytes);
Result<std::unique_ptr<ReadQueue>> open_thread_queue(int fd, std::uint32_t depth,
                                                     std::size_t block_bytes);

}  // namespace muster::storage
