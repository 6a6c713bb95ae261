#include "edge/storage/read_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>

#include "tests/support/shell.h"

namespace muster::storage {
namespace {

using testing_support::TemporaryFolder;

constexpr std::size_t kBlock = 4096;

// Every engine that this machine has, by the name that it gives itself.
std::map<std::string, std::unique_ptr<ReadQueue>> queues_of(const std::string& path, int flags,
                                                            std::uint32_t depth) {
  std::map<std::string, std::unique_ptr<ReadQueue>> out;
  for (const auto engine : {QueueEngine::io_uring, QueueEngine::libaio, QueueEngine::threads}) {
    auto queue = open_deep_queue(engine, ::open(path.c_str(), flags | O_CLOEXEC), depth, kBlock);
    if (queue) {
      const std::string name((*queue)->engine());
      out[name] = std::move(*queue);
    } else {
      EXPECT_EQ(queue.error().code, Errc::unsupported) << queue.error().context;
    }
  }
  if (depth == 1) {
    out["pread"] = *open_single_queue(::open(path.c_str(), flags | O_CLOEXEC), kBlock);
  }
  return out;
}

std::map<std::uint32_t, std::int64_t> drain(ReadQueue& queue, std::size_t reads) {
  std::map<std::uint32_t, std::int64_t> out;
  std::vector<ReadQueue::Done> done;
  while (out.size() < reads) {
    done.clear();
    if (!queue.wait(done)) break;
    for (const ReadQueue::Done& one : done) out[one.slot] = one.result;
  }
  return out;
}

TEST(ReadQueue, WholeShortAndPastTheEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f", std::string(3 * kBlock + 100, 'x'));
  for (const auto& [name, queue] : queues_of(path, O_RDONLY, 8)) {
    // Twice, so that slots are used again.
    for (int round = 0; round < 2; ++round) {
      for (std::uint32_t slot = 0; slot < 5; ++slot) {
        ASSERT_TRUE(queue->submit(slot, slot * kBlock)) << name;
      }
      const auto results = drain(*queue, 5);
      ASSERT_EQ(results.size(), 5U) << name;
      for (std::uint32_t slot = 0; slot < 3; ++slot) EXPECT_EQ(results.at(slot), 4096) << name;
      EXPECT_EQ(results.at(3), 100) << name << ": a short read is told as such";
      EXPECT_EQ(results.at(4), 0) << name << ": past the end";
    }
  }
}

TEST(ReadQueue, AFailedReadIsAResult) {
  const TemporaryFolder folder;
  for (const auto& [name, queue] : queues_of(folder.path(), O_RDONLY | O_DIRECTORY, 1)) {
    ASSERT_TRUE(queue->submit(0, 0)) << name;
    const auto results = drain(*queue, 1);
    ASSERT_EQ(results.size(), 1U) << name;
    EXPECT_LT(results.at(0), 0) << name;
  }
}

TEST(ReadQueue, NotOpenForReading) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f", "x");
  for (const auto& [name, queue] : queues_of(path, O_WRONLY, 1)) {
    ASSERT_TRUE(queue->submit(0, 0)) << name;
    EXPECT_EQ(drain(*queue, 1).at(0), -EBADF) << name;
  }
}

TEST(ReadQueue, FullDepthManyTimes) {
  const TemporaryFolder folder;
  constexpr std::uint32_t kDepth = 32;
  const std::string path = folder.write("f", std::string(kDepth * kBlock, 'x'));
  for (const auto& [name, queue] : queues_of(path, O_RDONLY, kDepth)) {
    std::vector<ReadQueue::Done> done;
    for (std::uint32_t slot = 0; slot < kDepth; ++slot) {
      ASSERT_TRUE(queue->submit(slot, slot * kBlock));
    }
    std::size_t ended = 0, started = kDepth;
    while (ended < 2000) {
      done.clear();
      ASSERT_TRUE(queue->wait(done)) << name;
      ASSERT_FALSE(done.empty()) << name;
      for (const ReadQueue::Done& one : done) {
        EXPECT_EQ(one.result, 4096) << name;
        ++ended;
        if (started < 2000) {
          ASSERT_TRUE(queue->submit(one.slot, one.slot * kBlock));
          ++started;
        }
      }
    }
    EXPECT_EQ(ended, 2000U) << name;
  }
}

// Whatever is there, one of them is, and threads always are.
TEST(ReadQueue, FallsBack) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f", std::string(kBlock, 'x'));
  const auto queue = open_deep_queue(::open(path.c_str(), O_RDONLY | O_CLOEXEC), 4, kBlock);
  ASSERT_TRUE(queue) << queue.error().context;
  ASSERT_TRUE((*queue)->submit(2, 0));
  EXPECT_EQ(drain(**queue, 1).at(2), 4096);
  EXPECT_TRUE(queues_of(path, O_RDONLY, 4).contains("threads"));
}

// Destroyed with reads in flight: nothing crashes, and no thread waits for ever.
TEST(ReadQueue, LeftInFlight) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f", std::string(64 * kBlock, 'x'));
  for (const auto& [name, queue] : queues_of(path, O_RDONLY, 16)) {
    for (std::uint32_t slot = 0; slot < 16; ++slot) ASSERT_TRUE(queue->submit(slot, 0)) << name;
  }
}

}  // namespace
}  // namespace muster::storage
