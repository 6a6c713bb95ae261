#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/check.h"
#include "edge/os/descriptor.h"
#include "edge/os/files.h"
#include "edge/storage/deep_queues.h"
#include "edge/storage/mapping.h"

namespace muster::storage {
namespace {

// Shared by the queue and its threads: one that hangs in a read outlives the queue.
struct Shared {
  Descriptor file;
  Mapping buffers;
  std::size_t block_bytes = 0;
  std::mutex mutex;
  std::condition_variable work, ended;
  std::deque<std::pair<std::uint32_t, std::uint64_t>> waiting;  // slot, offset
  std::vector<ReadQueue::Done> done;
  bool stop = false;
};

void read_for(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  for (;;) {
    shared.work.wait(lock, [&] { return shared.stop || !shared.waiting.empty(); });
    if (shared.stop) return;
    const auto [slot, offset] = shared.waiting.front();
    shared.waiting.pop_front();
    lock.unlock();
    ssize_t n = 0;
    do {
      n = ::pread(shared.file.get(), shared.buffers.at(slot * shared.block_bytes),
                  shared.block_bytes, static_cast<off_t>(offset));
    } while (n < 0 && errno == EINTR);
    const std::int64_t result = n < 0 ? -errno : n;
    lock.lock();
    shared.done.push_back({slot, result});
    shared.ended.notify_one();
  }
}

class ThreadQueue final : public ReadQueue {
 public:
  explicit ThreadQueue(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~ThreadQueue() override {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stop = true;
    }
    shared_->work.notify_all();
  }
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;

  std::string_view engine() const override { return "threads"; }

  Status submit(std::uint32_t slot, std::uint64_t offset) override {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->waiting.emplace_back(slot, offset);
    }
    shared_->work.notify_one();
    return {};
  }

  Status wait(std::vector<Done>& done) override {
    std::unique_lock lock(shared_->mutex);
    shared_->ended.wait(lock, [&] { return !shared_->done.empty(); });
    done.insert(done.end(), shared_->done.begin(), shared_->done.end());
    shared_->done.clear();
    return {};
  }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace

Result<std::unique_ptr<ReadQueue>> open_thread_queue(int fd, std::uint32_t depth,
                                                     std::size_t block_bytes) {
  auto shared = std::make_shared<Shared>();
  shared->file = Descriptor(fd);
  shared->buffers = Mapping::memory(depth * block_bytes);
  if (!shared->buffers) return errno_error("taking memory for reads", errno);
  shared->block_bytes = block_bytes;
  auto queue = std::make_unique<ThreadQueue>(shared);
  try {
    for (std::uint32_t i = 0; i < depth; ++i) std::thread([shared] { read_for(*shared); }).detach();
  } catch (const std::system_error& error) {
    return make_error(Errc::exhausted, std::string("starting threads that read: ") + error.what());
  }
  return queue;
}

}  // namespace muster::storage
