#include "edge/storage/read_queue.h"

#include <fcntl.h>

#include <cerrno>

#include "edge/os/descriptor.h"
#include "edge/os/files.h"
#include "edge/storage/deep_queues.h"

namespace muster::storage {

Result<std::unique_ptr<ReadQueue>> open_deep_queue(QueueEngine engine, int fd, std::uint32_t depth,
                                                   std::size_t block_bytes) {
  switch (engine) {
    case QueueEngine::io_uring:
      return open_uring_queue(fd, depth, block_bytes);
    case QueueEngine::libaio:
      return open_aio_queue(fd, depth, block_bytes);
    case QueueEngine::threads:
      break;
  }
  return open_thread_queue(fd, depth, block_bytes);
}

Result<std::unique_ptr<ReadQueue>> open_deep_queue(int fd, std::uint32_t depth,
                                                   std::size_t block_bytes) {
  const Descriptor file(fd);
  for (const QueueEngine engine :
       {QueueEngine::io_uring, QueueEngine::libaio, QueueEngine::threads}) {
    const int copy = ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return errno_error("opening the file once more", errno);
    auto queue = open_deep_queue(engine, copy, depth, block_bytes);
    if (queue || queue.error().code != Errc::unsupported) return queue;
  }
  return make_error(Errc::unsupported, "no way to have several reads in flight");
}

}  // namespace muster::storage
