#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/time.h"
#include "train/comm/join.h"

// What tests of communicators share.

namespace muster::train {

using Ranks = std::vector<std::unique_ptr<Communicator>>;

// Each rank does its part on a thread of its own.
inline void on_all(Ranks& ranks, const std::function<void(Communicator&)>& part) {
  std::vector<std::jthread> threads;
  for (auto& rank : ranks) {
    threads.emplace_back([&part, &rank] { part(*rank); });
  }
}

inline CommOptions patient(double seconds) {
  CommOptions options;
  options.join_deadline = seconds_to_duration(seconds);
  options.deadline = seconds_to_duration(seconds);
  options.save_deadline = options.deadline;
  return options;
}

}  // namespace muster::train
