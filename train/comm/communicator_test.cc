#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "base/text.h"
#include "train/comm/join.h"

namespace muster::train {
namespace {

using Ranks = std::vector<std::unique_ptr<Communicator>>;
constexpr Tag kWeights = {Purpose::weights, 3};
constexpr Tag kLoss = {Purpose::loss, 0};

// Each rank does its part on a thread of its own.
void on_all(Ranks& ranks, const std::function<void(Communicator&)>& part) {
  std::vector<std::jthread> threads;
  for (auto& rank : ranks) threads.emplace_back([&] { part(*rank); });
}

CommOptions patient(double seconds) {
  CommOptions options;
  options.deadline = seconds_to_duration(seconds);
  options.save_deadline = options.deadline;
  return options;
}

template <typename T>
std::byte* bytes(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

float value(int rank, std::size_t i) {
  return std::sin(static_cast<float>(i % 1013) * 0.7F + static_cast<float>(rank));
}

TEST(Communicator, GathersAnySizeInTheOrderOfRanks) {
  for (const int world : {1, 2, 3, 4}) {
    Ranks ranks = join_threads(world, {patient(20)});
    for (const std::size_t size : {0u, 1u, 3u, 4096u, 524287u, 524288u, 524289u, 1800001u}) {
      on_all(ranks, [&](Communicator& comm) {
        const std::vector<char> own(size, static_cast<char>('a' + comm.rank()));
        std::vector<char> full(size * static_cast<std::size_t>(world), '-');
        const Ticket ticket = comm.all_gather(reinterpret_cast<const std::byte*>(own.data()),
                                              bytes(full), size, kWeights);
        ASSERT_TRUE(comm.wait(ticket));
        for (std::size_t i = 0; i < full.size(); ++i) {
          ASSERT_EQ(full[i], static_cast<char>('a' + i / size)) << size << " " << i;
        }
      });
    }
  }
}

}  // namespace
}  // namespace muster::train
