#pragma once

#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"

namespace muster::train {

// Tells at once when one of a few processes ends, however it ends: their descriptors of the kernel
// become readable then. A thread that sleeps until it happens.
class ProcessWatch {
 public:
  // `ended(i)`: of pids[i], from the thread of the watch; a process that is gone already too.
  // Errc::unsupported: the kernel has no such descriptors (before 5.3).
  static Result<std::unique_ptr<ProcessWatch>> start(std::span<const int> pids,
                                                     std::function<void(std::size_t)> ended);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

 private:
  ProcessWatch() = default;
  void run();

  std::vector<int> descriptors_;   // [0]: stop
  std::vector<std::size_t> gone_;  // before the start
  std::function<void(std::size_t)> ended_;
  std::thread thread_;
};

}  // namespace muster::train
