#include "core/storage/bound.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::storage {
namespace {

constexpr double kEqual = 0.9;

// `rate` is no less than `other`, as far as runs repeat.
bool reaches(double rate, double other) {
  return rate >= kEqual * other;
}

std::string gb(double bytes_per_second) {
  return fmt::format("{:.2f} GB/s", bytes_per_second / 1e9);
}

// What must be in flight for the device to give its peak: as much as comes while one read lasts.
// Twice that is enough for reads of uneven length.
bool enough_ahead(std::uint64_t read_ahead_kb, double peak, std::span<const RowResult> rows) {
  for (const RowResult& row : rows) {
    if (row.kind != RowKind::single || row.state != RowState::measured) continue;
    return static_cast<double>(read_ahead_kb) * 1024 >= 2 * peak * row.rate.latency_median_s;
  }
  return false;
}

// The most that reads past the page cache got in any row.
std::optional<double> peak_of(std::span<const RowResult> rows) {
  std::optional<double> peak;
  for (const RowKind kind : {RowKind::streams, RowKind::queue}) {
    const auto rate = rate_in(rows, kind);
    if (rate) peak = std::max(peak.value_or(0), *rate);
  }
  return peak;
}

BoundAnswer of_streams(double rate, std::span<const RowResult> rows) {
  const auto queue = rate_in(rows, RowKind::queue);
  if (!queue) return {Bound::unknown, "the row with deep queues is not measured"};
  if (reaches(rate, *queue)) return {Bound::device, "deeper queues get no more"};
  return {Bound::queue_depth, fmt::format("deeper queues get {}", gb(*queue))};
}

BoundAnswer of_queue(double rate, std::span<const RowResult> rows) {
  const auto streams = rate_in(rows, RowKind::streams);
  if (streams && !reaches(rate, *streams)) {
    return {Bound::unknown, fmt::format("more streams with less in flight get {}", gb(*streams))};
  }
  const auto single = rate_in(rows, RowKind::single);
  if (single && reaches(*single, rate)) return {Bound::device, "one reader gets as much"};
  return {Bound::device, "128 reads in flight, no more to be had"};
}

BoundAnswer of_single(const RowRate& rate, std::span<const RowResult> rows) {
  const auto peak = peak_of(rows);
  if (!peak) return {Bound::unknown, "no row with more in flight is measured"};
  if (reaches(rate.bytes_per_second, *peak)) return {Bound::device, "more in flight get no more"};
  return {Bound::latency,
          fmt::format("one read of a MiB at a time, {:.2f} ms each", rate.latency_median_s * 1e3)};
}

BoundAnswer of_cold(double rate, std::span<const RowResult> rows,
                    std::optional<std::uint64_t> read_ahead_kb) {
  const auto warm = rate_in(rows, RowKind::warm);
  if (warm && reaches(rate, *warm)) return {Bound::page_copy, "as fast as the page cache"};
  const auto peak = peak_of(rows);
  if (!peak) return {Bound::unknown, "no row past the page cache is measured"};
  if (reaches(rate, *peak)) return {Bound::device, "as fast as reads past the page cache"};
  if (!read_ahead_kb) {
    return {Bound::unknown, fmt::format("readahead is not known; the device gives {}", gb(*peak))};
  }
  if (enough_ahead(*read_ahead_kb, *peak, rows)) {
    return {Bound::page_copy, fmt::format("{} KiB of readahead are enough: one thread fills and "
                                          "copies pages",
                                          *read_ahead_kb)};
  }
  return {Bound::readahead, fmt::format("the kernel reads {} KiB ahead; the device gives {}",
                                        *read_ahead_kb, gb(*peak))};
}

}  // namespace

std::string_view bound_name(Bound bound) {
  constexpr std::string_view kNames[] = {"page_copy", "latency", "queue_depth",
                                         "readahead", "device",  "unknown"};
  return kNames[static_cast<std::size_t>(bound)];
}

BoundAnswer bound_of(const RowResult& row, std::span<const RowResult> rows,
                     std::optional<std::uint64_t> read_ahead_kb) {
  const double rate = row.rate.bytes_per_second;
  switch (row.kind) {
    case RowKind::warm:
      return {Bound::page_copy, "one thread copies out of memory"};
    case RowKind::streams:
      return of_streams(rate, rows);
    case RowKind::queue:
      return of_queue(rate, rows);
    case RowKind::single:
      return of_single(row.rate, rows);
    case RowKind::cold:
      return of_cold(rate, rows, read_ahead_kb);
  }
  return {};
}

}  // namespace muster::storage
