#include "edge/os/stop_signal.h"

#include <pthread.h>
#include <signal.h>

namespace muster {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::jthread([this](std::stop_token done) {
    const sigset_t waited = ending_signals();
    const timespec pause{0, 100'000'000};
    while (!done.stop_requested()) {
      if (sigtimedwait(&waited, nullptr, &pause) < 0) continue;
      stop_.request_stop();
      // The second one ends the process, whatever the other threads are blocked in.
      signal(SIGINT, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &waited, nullptr);
    }
  });
}

StopOnSignal::~StopOnSignal() {
  waiter_.request_stop();
  waiter_.join();
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace muster
