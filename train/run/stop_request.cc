#include "train/run/stop_request.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

namespace muster::train {
namespace {

std::atomic<bool> g_requested = false;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGUSR1, SIGINT}) sigaddset(&set, number);
  return set;
}

void take_signals() {
  const sigset_t set = stop_signals();
  for (;;) {
    const int number = ::sigwaitinfo(&set, nullptr);
    if (number < 0) continue;
    g_requested = true;
    if (number != SIGINT) continue;
    sigset_t second;
    sigemptyset(&second);
    sigaddset(&second, SIGINT);
    ::signal(SIGINT, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &second, nullptr);
  }
}

}  // namespace

void watch_stop_signals() {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread(take_signals).detach();
}

bool stop_requested() {
  return g_requested;
}

}  // namespace muster::train
