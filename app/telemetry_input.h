#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "app/folded_clock.h"
#include "app/owned_row.h"
#include "app/sources.h"

namespace muster {

// Gives rows that carry no time, or no zone, the time they have.
class RowClock {
 public:
  // `fallback`: the time of rows without one (when the file was written).
  RowClock(WallTime fallback, const TimeZone* zone) : fallback_(fallback), zone_(zone) {}
  WallTime stamp(const TelemetryRow& row);
  void rows_come_at(WallTime now) { fallback_ = now; }
  bool saw_any() const { return any_; }
  bool saw_no_time() const { return undated_ > 0; }
  bool saw_no_zone() const { return zoneless_; }
  bool folded() const { return folded_.folded(); }

 private:
  WallTime fallback_;
  const TimeZone* zone_;
  std::int64_t undated_ = 0;
  bool any_ = false;
  bool zoneless_ = false;
  FoldedClock folded_;
  std::size_t first_ = 0;  // identity of the series that spoke first
};

// One telemetry input that is read a chunk at a time, so that several can be merged by time.
class TelemetryInput {
 public:
  TelemetryInput(SourceSpec spec, std::string default_host, std::unique_ptr<ByteStream> stream,
                 std::string head, std::unique_ptr<Decoder> decoder, RowClock clock,
                 std::size_t chunk_bytes);

  // The oldest row that waits, reading on where none does; nothing at the end of the input.
  const OwnedRow* front(RowTarget& target);
  void pop() { waiting_.pop_front(); }
  // Reads the whole rest straight into `target`: for an input that need not wait for others.
  void drain(RowTarget& target);

  const SourceSpec& spec() const { return spec_; }
  const std::string& default_host() const { return default_host_; }
  const RowClock& clock() const { return clock_; }
  std::uint64_t rows() const { return rows_; }
  // A read that failed in the middle; what stood before was used.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  class Sink;
  bool read_chunk(TelemetrySink& sink);

  SourceSpec spec_;
  std::string default_host_;
  std::unique_ptr<ByteStream> stream_;
  std::string head_;
  std::unique_ptr<Decoder> decoder_;
  RowClock clock_;
  std::deque<OwnedRow> waiting_;
  std::string buffer_;
  std::optional<Error> failure_;
  std::uint64_t rows_ = 0;
  bool ended_ = false;
};

}  // namespace muster
