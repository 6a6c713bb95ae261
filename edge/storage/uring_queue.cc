#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/check.h"
#include "edge/os/descriptor.h"
#include "edge/os/files.h"
#include "edge/storage/deep_queues.h"
#include "edge/storage/mapping.h"

namespace muster::storage {
namespace {

// The two rings that the kernel shares with us. Kernels from 5.4 on map them as one.
struct Rings {
  Descriptor fd;
  Mapping ring, entries;
  io_uring_params params{};

  std::uint32_t* at(std::uint32_t offset) const { return ring.at<std::uint32_t>(offset); }
};

std::uint32_t load(std::uint32_t* at) {
  return std::atomic_ref<std::uint32_t>(*at).load(std::memory_order_acquire);
}
void store(std::uint32_t* at, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(*at).store(value, std::memory_order_release);
}

Result<Rings> set_up(std::uint32_t depth) {
  Rings rings;
  rings.fd = Descriptor(static_cast<int>(::syscall(__NR_io_uring_setup, depth, &rings.params)));
  if (!rings.fd) return errno_error("setting up io_uring", errno);
  if ((rings.params.features & IORING_FEAT_SINGLE_MMAP) == 0) {
    return make_error(Errc::unsupported, "io_uring of a kernel before 5.4");
  }
  const auto& sq = rings.params.sq_off;
  const auto& cq = rings.params.cq_off;
  const std::size_t ring_bytes =
      std::max<std::size_t>(sq.array + rings.params.sq_entries * sizeof(std::uint32_t),
                            cq.cqes + rings.params.cq_entries * sizeof(io_uring_cqe));
  constexpr int kBoth = PROT_READ | PROT_WRITE, kShared = MAP_SHARED | MAP_POPULATE;
  rings.ring = Mapping(ring_bytes, kBoth, kShared, rings.fd.get(), IORING_OFF_SQ_RING);
  rings.entries = Mapping(rings.params.sq_entries * sizeof(io_uring_sqe), kBoth, kShared,
                          rings.fd.get(), IORING_OFF_SQES);
  if (!rings.ring || !rings.entries) return errno_error("mapping io_uring", errno);
  return rings;
}

class UringQueue final : public ReadQueue {
 public:
  UringQueue(Descriptor file, Rings rings, Mapping buffers, std::uint32_t depth,
             std::size_t block_bytes)
      : file_(std::move(file)),
        rings_(std::move(rings)),
        buffers_(std::move(buffers)),
        pieces_(depth) {
    for (std::size_t slot = 0; slot < depth; ++slot) {
      pieces_[slot] = {buffers_.at(slot * block_bytes), block_bytes};
    }
  }

  std::string_view engine() const override { return "io_uring"; }

  Status submit(std::uint32_t slot, std::uint64_t offset) override {
    MUSTER_CHECK(slot < pieces_.size() && in_flight_ < pieces_.size(), "a slot that is free");
    const auto& sq = rings_.params.sq_off;
    std::uint32_t* const tail = rings_.at(sq.tail);
    const std::uint32_t index = *tail & *rings_.at(sq.ring_mask);
    io_uring_sqe& entry = rings_.entries.at<io_uring_sqe>()[index];
    entry = {};
    entry.opcode = IORING_OP_READV;  // the read that the oldest io_uring has
    entry.fd = file_.get();
    entry.off = offset;
    entry.addr = reinterpret_cast<std::uintptr_t>(&pieces_[slot]);
    entry.len = 1;
    entry.user_data = slot;
    rings_.at(sq.array)[index] = index;
    store(tail, *tail + 1);
    ++unsent_;
    ++in_flight_;
    return {};
  }

  Status wait(std::vector<Done>& done) override {
    MUSTER_CHECK(in_flight_ > 0, "nothing is in flight");
    while (!take(done)) {
      const long n = ::syscall(__NR_io_uring_enter, rings_.fd.get(), unsent_, 1,
                               IORING_ENTER_GETEVENTS, nullptr, 0);
      if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY) {
        return errno_error("waiting for io_uring", errno);
      }
      if (n > 0) unsent_ -= static_cast<std::uint32_t>(n);
    }
    return {};
  }

 private:
  // Whether any read has ended. What was not sent yet is sent first.
  bool take(std::vector<Done>& done) {
    if (unsent_ > 0) return false;
    const auto& cq = rings_.params.cq_off;
    std::uint32_t* const head = rings_.at(cq.head);
    const std::uint32_t mask = *rings_.at(cq.ring_mask);
    const std::uint32_t end = load(rings_.at(cq.tail));
    const auto* entries = rings_.ring.at<io_uring_cqe>(cq.cqes);
    std::uint32_t at = *head;
    for (; at != end; ++at, --in_flight_) {
      const io_uring_cqe& entry = entries[at & mask];
      done.push_back({static_cast<std::uint32_t>(entry.user_data), entry.res});
    }
    const bool any = at != *head;
    store(head, at);
    return any;
  }

  Descriptor file_;
  Rings rings_;
  Mapping buffers_;
  std::vector<iovec> pieces_;
  std::uint32_t unsent_ = 0, in_flight_ = 0;
};

}  // namespace

Result<std::unique_ptr<ReadQueue>> open_uring_queue(int fd, std::uint32_t depth,
                                                    std::size_t block_bytes) {
  Descriptor file(fd);
  auto rings = set_up(depth);
  if (!rings) return make_error(Errc::unsupported, rings.error().context);
  Mapping buffers = Mapping::memory(depth * block_bytes);
  if (!buffers) return errno_error("taking memory for reads", errno);
  return std::make_unique<UringQueue>(std::move(file), std::move(*rings), std::move(buffers), depth,
                                      block_bytes);
}

}  // namespace muster::storage
