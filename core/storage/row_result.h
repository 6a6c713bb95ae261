#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/storage/read_plan.h"

namespace muster::storage {

// What one stream did. `latencies_ns` has the last reads of it, each from its call to its end.
struct StreamRun {
  MonoTime first_start{}, last_end{};
  std::uint64_t bytes = 0;
  std::uint64_t reads = 0, short_reads = 0;  // short: fewer bytes than asked, and not none
  std::vector<std::int64_t> latencies_ns;
};

struct RowRate {
  std::uint64_t bytes = 0;
  double seconds = 0;           // from the first start of any stream to the last end of any
  double bytes_per_second = 0;  // never the sum of the streams' own rates
  std::uint64_t reads = 0, short_reads = 0;
  double latency_median_s = 0, latency_p99_s = 0;  // of one read
};

// Nothing where nothing was read or no time passed: that is no rate of 0.
std::optional<RowRate> rate_of(std::span<const StreamRun> streams);

enum class RowState : std::uint8_t {
  measured,
  unsupported,   // this place cannot do it: O_DIRECT on tmpfs
  not_measured,  // it could not be done, or would not have meant what the row says
};

struct RowResult {
  RowKind kind = RowKind::warm;
  RowState state = RowState::not_measured;
  std::string reason;  // where it is not measured
  RowRate rate;        // where it is
  std::string engine;  // "pread", "io_uring", "libaio", "threads"
};

RowResult not_measured(RowKind kind, std::string reason);
RowResult unsupported(RowKind kind, std::string reason);

// Bytes per second of the row of this kind; nothing where it is not measured.
std::optional<double> rate_in(std::span<const RowResult> rows, RowKind kind);

}  // namespace muster::storage
