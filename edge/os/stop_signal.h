#pragma once

#include <stop_token>
#include <thread>

namespace muster {

// Turns the first SIGINT or SIGTERM into a stop request; a second one ends the process at once.
// Make it in main's thread before other threads start, so that they inherit the blocked signals.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace muster
