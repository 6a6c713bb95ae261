#include "app/read_stream.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/faulty_disk.h"

namespace muster {
namespace {

using storage::kBlockBytes;
using testing_support::DiskFaults;
using testing_support::faulty_queue;

constexpr Duration kMs = std::chrono::milliseconds(1);

struct Row {
  const char* name;
  DiskFaults faults;
  StreamTask task;
  std::uint64_t reads;
  std::string fails;  // part of the complaint; empty: it does not
  Errc code = Errc::internal;
};

DiskFaults slow() {
  DiskFaults faults;
  faults.read_time = kMs;
  return faults;
}
DiskFaults with(std::map<std::uint64_t, std::int64_t> results) {
  DiskFaults faults = slow();
  faults.results = std::move(results);
  return faults;
}
StreamTask task(std::uint64_t blocks, std::uint32_t depth, bool once, std::int64_t ms) {
  return {{kBlockBytes, (1 + blocks) * kBlockBytes}, depth, once, ms * kMs};
}

TEST(ReadStream, Table) {
  const std::uint64_t second = 2 * kBlockBytes;  // offset of the second block
  const Row rows[] = {
      {"broken block", with({{second, -EIO}}), task(5, 1, true, 100), 0,
       "reading at byte 2097152: Input/output error", Errc::unavailable},
      {"O_DIRECT that is refused late", with({{kBlockBytes, -EINVAL}}), task(5, 1, true, 100), 0,
       "Invalid argument", Errc::unsupported},
      {"made shorter", with({{second, 0}}), task(5, 1, true, 100), 0, "ended at byte 2097152",
       Errc::corrupt},
      {"broken within a deep queue", with({{second, -EIO}}), task(50, 8, true, 100), 0,
       "Input/output error", Errc::unavailable},
      {"once", slow(), task(5, 1, true, 100), 5, ""},
      {"once, the queue deeper than the file", slow(), task(3, 8, true, 100), 3, ""},
      {"once, out of time", slow(), task(50, 1, true, 10), 10, ""},
      {"over and over", slow(), task(3, 1, false, 10), 10, ""},
      {"at least one", slow(), task(3, 1, false, 0), 1, ""},
      // What is in flight when the time is over is waited for.
      {"over and over, deep", slow(), task(3, 4, false, 10), 13, ""},
  };
  for (const Row& row : rows) {
    FakeClock clock;
    StreamSignals signals;
    const auto queue = faulty_queue(row.faults, &clock);
    const auto run = read_stream(*queue, row.task, clock, signals);
    ASSERT_EQ(run.has_value(), row.fails.empty())
        << row.name << (run ? "" : ": " + run.error().context);
    if (!run) {
      EXPECT_EQ(run.error().code, row.code) << row.name;
      EXPECT_NE(run.error().context.find(row.fails), std::string::npos) << run.error().context;
      continue;
    }
    EXPECT_EQ(run->reads, row.reads) << row.name;
    EXPECT_EQ(run->bytes, row.reads * kBlockBytes) << row.name;
    EXPECT_EQ(run->latencies_ns.size(), row.reads) << row.name;
    EXPECT_EQ(run->short_reads, 0U) << row.name;
    EXPECT_EQ(run->last_end - run->first_start, static_cast<std::int64_t>(row.reads) * kMs)
        << row.name;
    EXPECT_EQ(signals.bytes, run->bytes) << row.name;
    EXPECT_EQ(signals.ended, row.reads) << row.name;
  }
}

TEST(ReadStream, ShortReadsCountWhatTheyGave) {
  FakeClock clock;
  StreamSignals signals;
  const auto queue = faulty_queue(with({{kBlockBytes, 4096}, {3 * kBlockBytes, 1}}), &clock);
  const auto run = read_stream(*queue, task(4, 2, true, 100), clock, signals);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->short_reads, 2U);
  EXPECT_EQ(run->bytes, 2 * kBlockBytes + 4097);
}

TEST(ReadStream, StopsWhenTold) {
  FakeClock clock;
  StreamSignals signals;
  signals.stop = true;
  const auto queue = faulty_queue(slow(), &clock);
  const auto run = read_stream(*queue, task(4, 2, true, 100), clock, signals);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->reads, 0U);
}

}  // namespace
}  // namespace muster
