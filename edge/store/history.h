#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/model/telemetry_row.h"

namespace muster {

struct HistoryOptions {
  std::string path;
  Duration keep = std::chrono::hours(24);
  // Of the database file; its journal adds up to 8 MiB. 1 GiB holds 8 GPUs at 1 Hz for 12 days.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
};

// Whether SQLite's write-ahead log works on a file system of this `f_type` of statfs(2): it needs
// shared memory between processes, which network file systems (NFS, SMB) do not give.
bool has_shared_memory(std::uint64_t filesystem_type);

// A bounded history of samples in one SQLite file of mode 0600. One thread, one connection.
//
// A series (host, GPU, port ...) is written once; a sample is one row (time, series, blob) with all
// its readings in the blob (reading_blob.h), clustered by time. A row a value would be easier to
// query by hand and three to four times the bytes and the index work; nobody asks for one metric
// without its time.
//
// A process that dies at any moment loses what it had not committed, nothing else. `user_version`
// counts the schema; older ones are brought up at opening, newer ones are Errc::unsupported.
class History {
 public:
  // Errc::invalid_input: a database of another program; corrupt: no database or a damaged one;
  // permission, not_found, unavailable: the file cannot be had.
  static Result<std::unique_ptr<History>> open(const HistoryOptions& options);
  virtual ~History() = default;

  // Keeps the row for the next commit. While commits fail at most 16,384 rows wait; then the oldest
  // go, and are counted.
  virtual void add(const TelemetryRow& row, WallTime at) = 0;
  // Writes what waits in one transaction, drops what is older than `keep` before `now` and the
  // oldest beyond `max_bytes`. Errc::exhausted: the disk is full; unavailable: locked for over five
  // seconds, or the disk fails. The rows wait for the next commit, which may succeed.
  virtual Status commit(WallTime now) = 0;
  // Rows with begin <= time < end, oldest first; a damaged one gives what is whole and a note.
  virtual Status read(WallTime begin, WallTime end, TelemetrySink& sink) = 0;

  // What the user should know: that the write-ahead log is off, and why.
  virtual const std::vector<std::string>& notes() const = 0;
  virtual std::uint64_t dropped() const = 0;
};

}  // namespace muster
