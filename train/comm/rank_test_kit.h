#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
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

// What holds for ranks however they talk to one another; three of them.

inline void expect_that_nobody_waits_for_who_left(Ranks ranks) {
  on_all(ranks, [](Communicator& comm) { EXPECT_TRUE(comm.barrier({Purpose::loss, 0})); });
  ranks.erase(ranks.begin() + 1);
  on_all(ranks, [](Communicator& comm) {
    EXPECT_FALSE(comm.barrier({Purpose::loss, 0}));
    EXPECT_EQ(comm.failure()->kind, CollectiveFailure::Kind::gone);
    EXPECT_EQ(comm.failure()->odd_ranks, std::vector<int>{1});
    EXPECT_NE(comm.failure()->text.find("rank 1 has left"), std::string::npos);
  });
}

inline void expect_that_leaving_harms_nobody(Ranks ranks) {
  std::vector<std::jthread> threads;
  for (auto& rank : ranks) {
    threads.emplace_back([own = std::move(rank)] {
      EXPECT_TRUE(own->barrier({Purpose::end, 0}));
      EXPECT_FALSE(own->failure());
    });
  }
}

}  // namespace muster::train
