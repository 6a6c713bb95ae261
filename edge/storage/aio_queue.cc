#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"
#include "edge/os/descriptor.h"
#include "edge/os/files.h"
#include "edge/storage/deep_queues.h"
#include "edge/storage/mapping.h"

namespace muster::storage {
namespace {

class AioQueue final : public ReadQueue {
 public:
  AioQueue(Descriptor file, aio_context_t context, Mapping buffers, std::uint32_t depth,
           std::size_t block_bytes)
      : file_(std::move(file)),
        context_(context),
        buffers_(std::move(buffers)),
        block_bytes_(block_bytes),
        controls_(depth),
        events_(depth) {}
  // Waits for what is in flight: the kernel ends no read of a disk halfway.
  ~AioQueue() override { ::syscall(__NR_io_destroy, context_); }
  AioQueue(const AioQueue&) = delete;
  AioQueue& operator=(const AioQueue&) = delete;

  std::string_view engine() const override { return "libaio"; }

  Status submit(std::uint32_t slot, std::uint64_t offset) override {
    MUSTER_CHECK(slot < controls_.size(), "a slot that is free");
    iocb& control = controls_[slot];
    control = {};
    control.aio_data = slot;
    control.aio_lio_opcode = IOCB_CMD_PREAD;
    control.aio_fildes = static_cast<std::uint32_t>(file_.get());
    control.aio_buf = reinterpret_cast<std::uintptr_t>(buffers_.at(slot * block_bytes_));
    control.aio_nbytes = block_bytes_;
    control.aio_offset = static_cast<std::int64_t>(offset);
    iocb* list[] = {&control};
    while (::syscall(__NR_io_submit, context_, 1, list) != 1) {
      if (errno != EAGAIN && errno != EINTR) {
        // As the other engines tell it: of the read, not of the queue.
        refused_.push_back({slot, -errno});
        break;
      }
    }
    return {};
  }

  Status wait(std::vector<Done>& done) override {
    if (!refused_.empty()) {
      done.insert(done.end(), refused_.begin(), refused_.end());
      refused_.clear();
      return {};
    }
    long n = 0;
    do {
      n = ::syscall(__NR_io_getevents, context_, 1, static_cast<long>(events_.size()),
                    events_.data(), nullptr);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return errno_error("waiting for libaio", errno);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      done.push_back({static_cast<std::uint32_t>(events_[i].data), events_[i].res});
    }
    return {};
  }

 private:
  Descriptor file_;
  aio_context_t context_;
  Mapping buffers_;
  std::size_t block_bytes_;
  std::vector<iocb> controls_;
  std::vector<io_event> events_;
  std::vector<Done> refused_;
};

}  // namespace

Result<std::unique_ptr<ReadQueue>> open_aio_queue(int fd, std::uint32_t depth,
                                                  std::size_t block_bytes) {
  Descriptor file(fd);
  Mapping buffers = Mapping::memory(depth * block_bytes);
  if (!buffers) return errno_error("taking memory for reads", errno);
  aio_context_t context = 0;
  if (::syscall(__NR_io_setup, depth, &context) != 0) {
    return make_error(Errc::unsupported, errno_error("setting up libaio", errno).context);
  }
  return std::make_unique<AioQueue>(std::move(file), context, std::move(buffers), depth,
                                    block_bytes);
}

}  // namespace muster::storage
