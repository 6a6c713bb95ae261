#include "core/storage/bound.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::storage {
namespace {

// GB/s of each row; 0: not measured.
struct Rates {
  double warm, streams, queue, single, cold;
};

std::vector<RowResult> rows_of(const Rates& rates) {
  const double all[] = {rates.warm, rates.streams, rates.queue, rates.single, rates.cold};
  std::vector<RowResult> rows;
  for (const RowKind kind : kRows) {
    const double rate = all[static_cast<std::size_t>(kind)] * 1e9;
    RowResult row = not_measured(kind, "test");
    if (rate > 0) {
      row.state = RowState::measured;
      row.rate.bytes_per_second = rate;
      row.rate.latency_median_s = static_cast<double>(kBlockBytes) / rate;
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(Bound, Table) {
  struct Row {
    const char* name;
    Rates rates;
    RowKind kind;
    Bound bound;
    std::string why;
  };
  const Row rows[] = {
      {"streams alone", {0, 3, 0, 2, 1}, RowKind::streams, Bound::unknown, "is not measured"},
      {"single alone", {6, 0, 0, 2, 1}, RowKind::single, Bound::unknown, "no row with more"},
      {"cold alone", {6, 0, 0, 0, 1}, RowKind::cold, Bound::unknown, "no row past"},
      {"queue slower", {6, 4, 3, 2, 1}, RowKind::queue, Bound::unknown, "get 4.00 GB/s"},
      {"seed warm", {6.34, 3.56, 3.54, 2.61, 1.31}, RowKind::warm, Bound::page_copy, "one thread"},
      {"seed streams", {6.34, 3.56, 3.54, 2.61, 1.31}, RowKind::streams, Bound::device, "no more"},
      {"seed queue", {6.34, 3.56, 3.54, 2.61, 1.31}, RowKind::queue, Bound::device, "128 reads"},
      {"seed single",
       {6.34, 3.56, 3.54, 2.61, 1.31},
       RowKind::single,
       Bound::latency,
       "0.40 ms each"},
      {"seed cold",
       {6.34, 3.56, 3.54, 2.61, 1.31},
       RowKind::cold,
       Bound::readahead,
       "reads 128 KiB ahead; the device gives 3.56 GB/s"},
      {"few streams", {6, 1, 4, 0.5, 1}, RowKind::streams, Bound::queue_depth, "get 4.00 GB/s"},
      {"one reader is enough", {6, 1, 1, 0.95, 1}, RowKind::single, Bound::device, "no more"},
      {"one reader is enough for all",
       {6, 1, 1, 0.95, 1},
       RowKind::queue,
       Bound::device,
       "one reader gets as much"},
      {"cold as the device", {6, 1, 1, 0.5, 0.95}, RowKind::cold, Bound::device, "as fast as"},
      {"cold that was warm", {6, 20, 20, 20, 5.9}, RowKind::cold, Bound::page_copy, "page cache"},
  };
  for (const Row& row : rows) {
    const auto all = rows_of(row.rates);
    const auto answer = bound_of(all[static_cast<std::size_t>(row.kind)], all, 128);
    EXPECT_EQ(bound_name(answer.bound), bound_name(row.bound)) << row.name;
    EXPECT_NE(answer.why.find(row.why), std::string::npos) << row.name << ": " << answer.why;
  }
}

TEST(Bound, Readahead) {
  const auto all = rows_of({6, 3, 3, 2, 1});
  const auto bound_at = [&](std::optional<std::uint64_t> kb) { return bound_of(all[4], all, kb); };
  EXPECT_EQ(bound_at({}).bound, Bound::unknown);
  EXPECT_NE(bound_at({}).why.find("readahead is not known"), std::string::npos);
  // 3 GB/s with reads of 0.52 ms: 1.6 MB must be in flight, and twice that is surely enough.
  EXPECT_EQ(bound_at(3000).bound, Bound::readahead);
  EXPECT_EQ(bound_at(3100).bound, Bound::page_copy);
  // Without the time of one read nobody knows what is enough.
  const auto no_single = rows_of({6, 3, 3, 0, 1});
  EXPECT_EQ(bound_of(no_single[4], no_single, 100'000).bound, Bound::readahead);
}

}  // namespace
}  // namespace muster::storage
