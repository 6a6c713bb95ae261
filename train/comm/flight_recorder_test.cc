#include "train/comm/flight_recorder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace muster::train {
namespace {

FlightRecordRow row_at(const FlightRecorder& recorder, std::uint64_t place) {
  FlightRecordRow out;
  const std::size_t at = kFlightRecordHeadBytes + place % kFlightRows * sizeof out;
  std::memcpy(&out, recorder.bytes().data() + at, sizeof out);
  return out;
}

TEST(FlightRecorder, ACallThatEndsLateLeavesTheRowOfAnotherAlone) {
  const auto recorder = FlightRecorder::in_memory({.run = "test", .host = "n1"});
  const std::array<int, 2> both = {0, 1};
  const std::uint32_t group = recorder->add_group("all", both);
  const auto post = [&](std::uint64_t seq) {
    return recorder->post(group, seq, CollectiveOp::barrier, {Purpose::loss, 0}, 0, Dtype::f32);
  };
  const std::uint64_t slow = post(1);
  recorder->started(slow);
  EXPECT_NE(row_at(*recorder, slow).begun_ns, 0);
  std::uint64_t last = slow;
  for (std::uint64_t seq = 2; seq <= kFlightRows + 1; ++seq) last = post(seq);
  ASSERT_EQ(last % kFlightRows, slow % kFlightRows);  // the row of the slow one is taken
  recorder->started(slow);
  recorder->finished(slow);
  EXPECT_EQ(row_at(*recorder, last).number, last + 1);
  EXPECT_EQ(row_at(*recorder, last).begun_ns, 0);
  EXPECT_EQ(row_at(*recorder, last).ended_ns, 0);
  recorder->started(last);
  recorder->finished(last);
  EXPECT_NE(row_at(*recorder, last).begun_ns, 0);
  EXPECT_NE(row_at(*recorder, last).ended_ns, 0);
}

// A hang is judged by the calls of the last steps: they must all be there.
TEST(FlightRecorder, TheRingHoldsTenStepsOfTheLargestModel) {
  constexpr std::uint64_t kUnits = 66, kCallsOfUnit = 3, kMicroBatches = 8;
  EXPECT_GE(kFlightRows, 10 * kUnits * kCallsOfUnit * kMicroBatches);
}

}  // namespace
}  // namespace muster::train
