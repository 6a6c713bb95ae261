#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/storage/read_plan.h"
#include "core/storage/row_result.h"
#include "edge/os/clock.h"
#include "edge/storage/disk.h"

namespace muster {

struct RowWatch {
  std::stop_token stop;
  // A row of which no read ends for so long hangs: a file server that is gone. The slowest healthy
  // read of a MiB, behind 127 others on one disk, takes about two seconds.
  Duration patience = std::chrono::seconds(30);
  std::function<void(std::uint64_t bytes)> progress;  // four times a second
};

struct RowRun {
  std::vector<storage::StreamRun> streams;
  std::string engine;
};

// Reads a row: a thread for each stream, all of them ready before the first read starts.
// Errc::timeout where it hangs: its threads are then left behind, with all that they work on, and
// another row would hang as well. (The answer is out by then; the process itself ends when the
// kernel lets go of such a read, which with a network file system is at once.) Errc::unavailable,
// "stopped", where `stop` came first. Otherwise the first stream that failed is the answer.
Result<RowRun> read_row(const storage::RowPlan& plan,
                        const std::shared_ptr<storage::ReadTarget>& target, Clock& clock,
                        const RowWatch& watch);

// Any other work that may hang, on a thread that is left behind likewise: Errc::timeout where
// `ticks` stands still for too long. What `work` finds out it leaves where both can reach it, which
// must outlive it.
Status finish_in_time(std::function<void()> work, const std::function<std::uint64_t()>& ticks,
                      Clock& clock, const RowWatch& watch);

}  // namespace muster
