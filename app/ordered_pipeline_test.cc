#include "app/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace muster {
namespace {

using Pipeline = OrderedPipeline<int, std::string>;

// Gives 0 .. count - 1, then ends or fails.
Pipeline::Source numbers(int count, bool fails = false) {
  return [count, fails, next = 0]() mutable -> Result<std::optional<int>> {
    if (next < count) return std::optional(next++);
    if (fails) return make_error(Errc::corrupt, "source");
    return std::optional<int>();
  };
}

std::string slow_for_some(std::size_t, int&& item) {
  for (int i = 0; i < item % 7 * 20; ++i) std::this_thread::yield();
  return std::to_string(item);
}

TEST(OrderedPipeline, AFailingSourceEndsBehindItsItems) {
  std::vector<std::string> got;
  const Status status =
      Pipeline(3, 4).run(numbers(20, true), slow_for_some, [&](std::string&& made) -> Status {
        got.push_back(std::move(made));
        return {};
      });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().context, "source");
  EXPECT_EQ(got.size(), 20U);
}

TEST(OrderedPipeline, AFailingSinkEndsAtOnce) {
  int taken = 0;
  const Status status =
      Pipeline(3, 4).run(numbers(1 << 30), slow_for_some, [&](std::string&& made) -> Status {
        EXPECT_EQ(made, std::to_string(taken));
        if (++taken == 5) return make_error(Errc::exhausted, "sink");
        return {};
      });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().context, "sink");
  EXPECT_EQ(taken, 5);
}

TEST(OrderedPipeline, NothingIsNothing) {
  EXPECT_TRUE(Pipeline(2, 1).run(numbers(0), slow_for_some, [](std::string&&) -> Status {
    return make_error(Errc::internal, "called");
  }));
}

TEST(OrderedPipeline, OrderAndWindowHoldForAnyThreads) {
  for (const std::size_t threads : {1U, 2U, 7U}) {
    for (const std::size_t window : {1U, 3U, 50U}) {
      std::atomic<int> inside = 0, most = 0;
      int next = 0;
      const auto source = [&]() -> Result<std::optional<int>> {
        if (next == 300) return std::optional<int>();
        const int now = ++inside;
        most = std::max(most.load(), now);
        return std::optional(next++);
      };
      int taken = 0;
      const auto sink = [&](std::string&& made) -> Status {
        EXPECT_EQ(made, std::to_string(taken++));
        --inside;
        return {};
      };
      EXPECT_TRUE(Pipeline(threads, window).run(source, slow_for_some, sink));
      EXPECT_EQ(taken, 300);
      EXPECT_LE(most, static_cast<int>(window));
    }
  }
}

}  // namespace
}  // namespace muster
