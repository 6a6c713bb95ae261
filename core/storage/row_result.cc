#include "core/storage/row_result.h"

#include <algorithm>

namespace muster::storage {
namespace {

double quantile_s(std::vector<std::int64_t>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(at)]) / 1e9;
}

}  // namespace

std::optional<RowRate> rate_of(std::span<const StreamRun> streams) {
  RowRate rate;
  std::optional<MonoTime> first, last;
  std::vector<std::int64_t> latencies;
  for (const StreamRun& stream : streams) {
    if (stream.reads == 0) continue;
    first = std::min(first.value_or(stream.first_start), stream.first_start);
    last = std::max(last.value_or(stream.last_end), stream.last_end);
    rate.bytes += stream.bytes;
    rate.reads += stream.reads;
    rate.short_reads += stream.short_reads;
    latencies.insert(latencies.end(), stream.latencies_ns.begin(), stream.latencies_ns.end());
  }
  if (rate.bytes == 0 || !first || *last <= *first) return std::nullopt;
  rate.seconds = duration_to_seconds(*last - *first);
  rate.bytes_per_second = static_cast<double>(rate.bytes) / rate.seconds;
  rate.latency_median_s = quantile_s(latencies, 0.5);
  rate.latency_p99_s = quantile_s(latencies, 0.99);
  return rate;
}

RowResult not_measured(RowKind kind, std::string reason) {
  RowResult row;
  row.kind = kind;
  row.reason = std::move(reason);
  return row;
}

RowResult unsupported(RowKind kind, std::string reason) {
  RowResult row = not_measured(kind, std::move(reason));
  row.state = RowState::unsupported;
  return row;
}

std::optional<double> rate_in(std::span<const RowResult> rows, RowKind kind) {
  for (const RowResult& row : rows) {
    if (row.kind == kind && row.state == RowState::measured) return row.rate.bytes_per_second;
  }
  return std::nullopt;
}

}  // namespace muster::storage
