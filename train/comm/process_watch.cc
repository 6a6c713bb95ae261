#include "train/comm/process_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "edge/os/files.h"

namespace muster::train {

Result<std::unique_ptr<ProcessWatch>> ProcessWatch::start(std::span<const int> pids,
                                                          std::function<void(std::size_t)> ended) {
  std::unique_ptr<ProcessWatch> watch(new ProcessWatch());
  watch->ended_ = std::move(ended);
  watch->descriptors_.push_back(eventfd(0, EFD_CLOEXEC));
  if (watch->descriptors_[0] < 0) return errno_error("watching the other ranks", errno);
  for (std::size_t i = 0; i < pids.size(); ++i) {
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pids[i], 0));
    if (descriptor < 0 && errno == ENOSYS) {
      return make_error(Errc::unsupported,
                        "this kernel cannot watch processes (pidfd_open, Linux 5.3)");
    }
    if (descriptor < 0 && errno != ESRCH) return errno_error("watching the other ranks", errno);
    if (descriptor < 0) watch->gone_.push_back(i);
    watch->descriptors_.push_back(descriptor);
  }
  watch->thread_ = std::thread([self = watch.get()] { self->run(); });
  return watch;
}

void ProcessWatch::run() {
  for (const std::size_t i : gone_) ended_(i);
  std::vector<pollfd> polled;
  for (const int descriptor : descriptors_) polled.push_back({descriptor, POLLIN, 0});
  for (;;) {
    if (poll(polled.data(), polled.size(), -1) < 0) continue;  // a signal
    if (polled[0].revents != 0) return;
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      polled[i].fd = -1;  // once
      ended_(i - 1);
    }
  }
}

ProcessWatch::~ProcessWatch() {
  if (thread_.joinable()) {
    eventfd_write(descriptors_[0], 1);
    thread_.join();
  }
  for (const int descriptor : descriptors_) {
    if (descriptor >= 0) close(descriptor);
  }
}

}  // namespace muster::train
