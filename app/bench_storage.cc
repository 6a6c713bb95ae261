#include "app/bench_storage.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "app/bench_fio.h"
#include "app/row_bench.h"

namespace muster {
namespace {

using storage::RowKind;
using storage::RowResult;

// What is found out before the rows; may hang, so it is shared with the thread that does it.
struct Start {
  std::atomic<std::uint64_t> ticks{0};
  storage::Place place;
  bool own_file = false;
  Result<std::shared_ptr<storage::ReadTarget>> target = make_error(Errc::internal, "not yet");
};

void find_target(const BenchStorageRequest& request, storage::Disk& disk, Start& start) {
  start.place = disk.look(request.path);
  const auto folder = disk.is_folder(request.path);
  if (!folder) {
    start.target = folder.error();
    return;
  }
  start.own_file = *folder;
  if (!*folder) {
    start.target = disk.open(request.path);
    return;
  }
  // Asked before anything is written: numbers that make no plan.
  const auto plan = storage::plan_rows({request.bytes, request.streams, request.length});
  if (!plan) {
    start.target = plan.error();
    return;
  }
  start.target = disk.make(request.path, storage::planned_bytes(request.bytes), request.stop,
                           [&](std::uint64_t bytes) { start.ticks = bytes; });
}

void add_notes(const storage::ReadTarget& target, storage::StorageAnswer& answer) {
  if (target.compressed()) {
    answer.notes.emplace_back(
        "the file takes less on the device than its size: it is stored compressed, and its rates "
        "count what comes out");
  }
  std::uint64_t short_reads = 0;
  for (const RowResult& row : answer.rows) short_reads += row.rate.short_reads;
  if (short_reads > 0) {
    answer.notes.push_back(fmt::format("{} reads gave less than was asked for", short_reads));
  }
}

}  // namespace

Result<storage::StorageAnswer> bench_storage(const BenchStorageRequest& request,
                                             storage::Disk& disk, Clock& clock) {
  const auto start = std::make_shared<Start>();
  const auto tell = progress_of(request, "writing", clock);
  const RowWatch watch{request.stop, request.patience, tell};
  const Status ended =
      finish_in_time([request, &disk, start] { find_target(request, disk, *start); },
                     [start] { return start->ticks.load(); }, clock, watch);
  if (!ended) return within(request.path, ended.error());
  if (!start->target) return start->target.error();
  storage::StorageAnswer answer;
  answer.place = start->place;
  answer.own_file = start->own_file;
  answer.streams = request.streams;
  answer.demand = request.demand;
  answer.file_bytes = storage::planned_bytes(std::min((*start->target)->bytes(), request.bytes));
  const auto plan = storage::plan_rows({answer.file_bytes, request.streams, request.length});
  if (!plan) return within(request.path, plan.error());
  RowBench bench(request, *plan, *start->target, answer, clock);
  for (const RowKind kind : storage::kRows) {
    answer.rows.push_back(storage::not_measured(kind, "stopped"));
  }
  for (const RowKind kind : storage::kRunOrder) {
    answer.rows[static_cast<std::size_t>(kind)] = bench.measure(kind);
  }
  if (request.against_fio) compare_with_fio(request, bench, disk, answer, clock);
  add_notes(**start->target, answer);
  return answer;
}

}  // namespace muster
