#include "core/storage/row_result.h"

#include <gtest/gtest.h>

namespace muster::storage {
namespace {

MonoTime at(double seconds) {
  return MonoTime(seconds_to_duration(seconds));
}
StreamRun run(double start, double end, std::uint64_t bytes, std::uint64_t reads = 1) {
  StreamRun out;
  out.first_start = at(start);
  out.last_end = at(end);
  out.bytes = bytes;
  out.reads = reads;
  return out;
}

TEST(RowRate, Table) {
  struct Row {
    const char* name;
    std::vector<StreamRun> streams;
    std::optional<double> rate;
  };
  const Row rows[] = {
      {"no stream", {}, std::nullopt},
      {"nothing read", {run(0, 0, 0, 0)}, std::nullopt},
      {"reads that got nothing", {run(0, 1, 0, 5)}, std::nullopt},
      {"no time", {run(1, 1, 100)}, std::nullopt},
      {"a clock that ran back", {run(2, 1, 100)}, std::nullopt},
      {"one", {run(1, 3, 100)}, 50},
      {"two side by side", {run(1, 3, 100), run(1, 3, 100)}, 100},
      // The sum of their own rates would be 200.
      {"one after the other", {run(0, 1, 100), run(1, 2, 100)}, 100},
      {"one starts late", {run(0, 2, 100), run(1, 2, 100)}, 100},
      {"one ends early", {run(0, 4, 300), run(0, 1, 100)}, 100},
      {"one read nothing", {run(0, 1, 100), run(0, 90, 0, 0)}, 100},
  };
  for (const Row& row : rows) {
    const auto rate = rate_of(row.streams);
    ASSERT_EQ(rate.has_value(), row.rate.has_value()) << row.name;
    if (rate) {
      EXPECT_DOUBLE_EQ(rate->bytes_per_second, *row.rate) << row.name;
    }
  }
}

TEST(RowRate, Latencies) {
  StreamRun stream = run(0, 1, 100, 200);
  for (std::int64_t i = 200; i >= 1; --i) stream.latencies_ns.push_back(i * 1'000'000);
  stream.short_reads = 3;
  const StreamRun both[] = {stream, stream};
  const auto rate = rate_of(both);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->latency_median_s, 0.100, 0.001);
  EXPECT_NEAR(rate->latency_p99_s, 0.198, 0.001);
  EXPECT_EQ(rate->reads, 400U);
  EXPECT_EQ(rate->short_reads, 6U);
}

TEST(RowResults, OnlyMeasuredRowsHaveARate) {
  RowResult warm;
  warm.kind = RowKind::warm;
  warm.state = RowState::measured;
  warm.rate.bytes_per_second = 6e9;
  const RowResult rows[] = {warm, unsupported(RowKind::single, "tmpfs"),
                            not_measured(RowKind::cold, "residency left")};
  EXPECT_EQ(rate_in(rows, RowKind::warm), 6e9);
  EXPECT_EQ(rate_in(rows, RowKind::single), std::nullopt);
  EXPECT_EQ(rate_in(rows, RowKind::cold), std::nullopt);
  EXPECT_EQ(rate_in(rows, RowKind::queue), std::nullopt);
  EXPECT_EQ(rows[1].state, RowState::unsupported);
  EXPECT_EQ(rows[2].reason, "residency left");
}

}  // namespace
}  // namespace muster::storage
