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

// Ends the wait of our thread; what others send of it means nothing, as ever.
constexpr int kWake = SIGURG;

}  // namespace

StopOnSignal::StopOnSignal() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::jthread([this](const std::stop_token& done) {
    const sigset_t ending = ending_signals();
    sigset_t waited = ending;
    sigaddset(&waited, kWake);
    pthread_sigmask(SIG_BLOCK, &waited, nullptr);
    while (!done.stop_requested()) {
      const int signal_number = sigwaitinfo(&waited, nullptr);
      if (signal_number < 0 || signal_number == kWake) continue;
      stop_.request_stop();
      // The second one ends the process, whatever the other threads are blocked in.
      signal(SIGINT, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    }
  });
}

StopOnSignal::~StopOnSignal() {
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), kWake);
  waiter_.join();
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace muster
