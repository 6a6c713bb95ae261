#include <unistd.h>

#include <cerrno>

#include "base/check.h"
#include "edge/os/descriptor.h"
#include "edge/os/files.h"
#include "edge/storage/mapping.h"
#include "edge/storage/read_queue.h"

namespace muster::storage {
namespace {

class SingleQueue final : public ReadQueue {
 public:
  SingleQueue(Descriptor fd, Mapping buffer, std::size_t block_bytes)
      : fd_(std::move(fd)), buffer_(std::move(buffer)), block_bytes_(block_bytes) {}

  std::string_view engine() const override { return "pread"; }

  Status submit(std::uint32_t slot, std::uint64_t offset) override {
    MUSTER_CHECK(slot == 0 && !pending_, "one read at a time");
    ssize_t n = 0;
    do {
      n = ::pread(fd_.get(), buffer_.at(), block_bytes_, static_cast<off_t>(offset));
    } while (n < 0 && errno == EINTR);
    result_ = n < 0 ? -errno : n;
    pending_ = true;
    return {};
  }

  Status wait(std::vector<Done>& done) override {
    MUSTER_CHECK(pending_, "nothing is in flight");
    pending_ = false;
    done.push_back({0, result_});
    return {};
  }

 private:
  Descriptor fd_;
  Mapping buffer_;
  std::size_t block_bytes_;
  std::int64_t result_ = 0;
  bool pending_ = false;
};

}  // namespace

Result<std::unique_ptr<ReadQueue>> open_single_queue(int fd, std::size_t block_bytes) {
  Descriptor owned(fd);
  Mapping buffer = Mapping::memory(block_bytes);
  if (!buffer) return errno_error("taking memory for a read", errno);
  return std::make_unique<SingleQueue>(std::move(owned), std::move(buffer), block_bytes);
}

}  // namespace muster::storage
