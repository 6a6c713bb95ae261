#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/bench_storage.h"
#include "app/read_row.h"
#include "core/storage/proc_text.h"

namespace muster {

// Tells `request.progress` of one part of the work; empty where nobody listens.
std::function<void(std::uint64_t)> progress_of(const BenchStorageRequest& request,
                                               const std::string& what, Clock& clock);

// The rows of one file: brings the page cache into the state that a row is about, proves it, reads,
// and looks whether the reads were what the row says.
class RowBench {
 public:
  // All but the plan must outlive this.
  RowBench(const BenchStorageRequest& request, std::vector<storage::RowPlan> plan,
           std::shared_ptr<storage::ReadTarget> target, const storage::StorageAnswer& answer,
           Clock& clock);

  const storage::RowPlan& plan_of(storage::RowKind kind) const;
  const std::shared_ptr<storage::ReadTarget>& target() const { return target_; }
  // Nothing more can be read: a row hung, or `stop` came.
  bool over() const { return hangs_ || request_.stop.stop_requested(); }

  storage::RowResult measure(storage::RowKind kind, const std::string& what = "");
  // What measure() does before it reads: the reason why the row would not mean what it says.
  std::optional<storage::RowResult> prepare(storage::RowKind kind);

 private:
  std::optional<storage::RowResult> prepare_cold();
  std::optional<storage::RowResult> prepare_warm();
  std::optional<storage::RowResult> prepare_direct(storage::RowKind kind);
  std::optional<storage::RowResult> misfit_after(storage::RowKind kind);
  storage::RowResult failed(storage::RowKind kind, const Error& error);

  const BenchStorageRequest& request_;
  std::vector<storage::RowPlan> plan_;
  std::shared_ptr<storage::ReadTarget> target_;
  const storage::StorageAnswer& answer_;
  Clock& clock_;
  storage::FileSystemHabit habit_;
  std::optional<double> resident_before_;
  bool hangs_ = false;
};

}  // namespace muster
