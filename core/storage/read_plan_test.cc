#include "core/storage/read_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace muster::storage {
namespace {

constexpr std::uint64_t kMiB = kBlockBytes;

TEST(ReadPlan, Refused) {
  struct Row {
    const char* name;
    PlanRequest request;
    std::string says;
  };
  const Duration second = std::chrono::seconds(1);
  const Row rows[] = {
      {"no stream", {64 * kMiB, 0, second}, "streams: a number from 1 to 256"},
      {"too many streams", {1024 * kMiB, 257, second}, "streams: a number from 1 to 256"},
      {"no time", {64 * kMiB, 8, Duration{}}, "seconds: more than 0"},
      {"time that runs back", {64 * kMiB, 8, -second}, "seconds: more than 0"},
      {"empty", {0, 8, second}, "0 bytes are too few: the rows need 8388608"},
      {"a byte short", {8 * kMiB - 1, 8, second}, "8388607 bytes are too few"},
      {"few streams", {4 * kMiB - 1, 1, second}, "the rows need 4194304"},
  };
  for (const Row& row : rows) {
    const auto plan = plan_rows(row.request);
    ASSERT_FALSE(plan) << row.name;
    EXPECT_EQ(plan.error().code, Errc::invalid_input) << row.name;
    EXPECT_NE(plan.error().context.find(row.says), std::string::npos)
        << row.name << ": " << plan.error().context;
  }
}

TEST(ReadPlan, Rows) {
  struct Row {
    RowKind kind;
    bool direct, once;
    std::uint32_t depth;
    std::size_t streams;
    Segment first, last;
  };
  // 100 MiB and a tail that nobody reads.
  const std::uint64_t bytes = 100 * kMiB + 4095;
  const Row rows[] = {
      {RowKind::warm, false, false, 1, 1, {0, 100 * kMiB}, {0, 100 * kMiB}},
      {RowKind::streams, true, false, 1, 8, {0, 12 * kMiB}, {84 * kMiB, 96 * kMiB}},
      {RowKind::queue, true, false, 32, 4, {0, 25 * kMiB}, {75 * kMiB, 100 * kMiB}},
      {RowKind::single, true, false, 1, 1, {0, 100 * kMiB}, {0, 100 * kMiB}},
      {RowKind::cold, false, true, 1, 1, {0, 100 * kMiB}, {0, 100 * kMiB}},
  };
  const auto plan = plan_rows({bytes, 8, std::chrono::seconds(2)});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const RowPlan& got = (*plan)[i];
    const Row& want = rows[i];
    const auto name = row_name(want.kind);
    EXPECT_EQ(got.kind, want.kind) << name;
    EXPECT_EQ(got.direct, want.direct) << name;
    EXPECT_EQ(got.once, want.once) << name;
    EXPECT_EQ(got.depth, want.depth) << name;
    ASSERT_EQ(got.segments.size(), want.streams) << name;
    EXPECT_EQ(got.segments.front(), want.first) << name;
    EXPECT_EQ(got.segments.back(), want.last) << name;
    EXPECT_EQ(got.length, want.once ? kColdLength : std::chrono::seconds(2)) << name;
  }
  EXPECT_EQ(planned_bytes(bytes), 100 * kMiB);
}

// Whatever the numbers: streams are disjoint, of equal length, whole blocks, and inside the file.
TEST(ReadPlan, SegmentsOfAnySize) {
  for (std::uint64_t bytes = 300 * kMiB - 3; bytes < 300 * kMiB + 40'000'000; bytes += 777'777) {
    for (const std::uint32_t streams : {1U, 3U, 8U, 256U}) {
      const auto plan = plan_rows({bytes, streams, std::chrono::seconds(1)});
      ASSERT_TRUE(plan);
      for (const RowPlan& row : *plan) {
        std::uint64_t end = 0;
        for (const Segment& segment : row.segments) {
          EXPECT_EQ(segment.begin, end);
          EXPECT_EQ(segment.begin % kBlockBytes, 0U);
          EXPECT_EQ(segment.end - segment.begin, row.segments.front().end);
          EXPECT_GE(segment.end, segment.begin + kBlockBytes);
          end = segment.end;
        }
        EXPECT_LE(end, bytes);
      }
    }
  }
}

// What fills the page cache comes last, and no row is left out.
TEST(ReadPlan, OrderOfMeasuring) {
  EXPECT_EQ(kRunOrder[4], RowKind::warm);
  EXPECT_EQ(kRunOrder[3], RowKind::cold);
  unsigned seen = 0;
  for (const RowKind kind : kRunOrder) seen |= 1U << static_cast<unsigned>(kind);
  EXPECT_EQ(seen, 31U);
}

}  // namespace
}  // namespace muster::storage
