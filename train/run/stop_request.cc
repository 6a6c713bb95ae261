#include "train/run/stop_request.h"

#include <signal.h>

#include <atomic>

namespace muster::train {
namespace {

std::atomic<bool> g_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_signal(int number) {
  g_requested = true;
  if (number == SIGINT) ::signal(SIGINT, SIG_DFL);
}

}  // namespace

void watch_stop_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGTERM, SIGUSR1, SIGINT}) ::sigaction(number, &action, nullptr);
}

bool stop_requested() {
  return g_requested;
}

}  // namespace muster::train
