#include "app/bench_fio.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/storage/fio_job.h"

namespace muster {
namespace {

using storage::RowKind;

class FioBench {
 public:
  FioBench(const BenchStorageRequest& request, RowBench& bench, storage::Disk& disk,
           storage::StorageAnswer& answer, Clock& clock)
      : request_(request), bench_(bench), disk_(disk), answer_(answer), clock_(clock) {}

  // The pairs of a row; the first thing that goes wrong ends them.
  std::vector<storage::FioPair> pairs_of(RowKind kind) {
    std::vector<storage::FioPair> pairs;
    for (std::size_t i = 0; i < storage::kPairs && !bench_.over() && !gone_; ++i) {
      what_ = fmt::format("{} {} of {}", storage::row_name(kind), i + 1, storage::kPairs);
      std::optional<double> fio, ours;
      if (i % 2 == 0) fio = by_fio(kind);
      ours = by_us(kind);
      if (i % 2 == 1) fio = by_fio(kind);
      if (!fio || !ours) break;
      pairs.push_back({*fio, *ours});
    }
    return pairs;
  }

 private:
  std::optional<double> by_us(RowKind kind) {
    const storage::RowResult result = bench_.measure(kind, what_);
    if (result.state == storage::RowState::measured) return result.rate.bytes_per_second;
    note(fmt::format("{}: {}", storage::row_name(kind), result.reason));
    return std::nullopt;
  }

  std::optional<double> by_fio(RowKind kind) {
    if (const auto reason = bench_.prepare(kind)) {
      note(fmt::format("{}: {}", storage::row_name(kind), reason->reason));
      return std::nullopt;
    }
    if (const auto tell = progress_of(request_, "fio " + what_, clock_)) tell(0);
    const storage::RowPlan& plan = bench_.plan_of(kind);
    const auto text = disk_.fio(storage::fio_arguments(plan, bench_.target()->path()),
                                plan.length + request_.patience, request_.stop);
    const auto answer = text ? storage::parse_fio_answer(*text) : text.error();
    if (!answer) {
      gone_ = answer.error().code == Errc::not_found;
      note(answer.error().context);
      return std::nullopt;
    }
    answer_.fio = answer->version;
    return answer->bytes_per_second;
  }

  void note(const std::string& text) {
    const auto& notes = answer_.notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) answer_.notes.push_back(text);
  }

  const BenchStorageRequest& request_;
  RowBench& bench_;
  storage::Disk& disk_;
  storage::StorageAnswer& answer_;
  Clock& clock_;
  std::string what_;
  bool gone_ = false;
};

}  // namespace

void compare_with_fio(const BenchStorageRequest& request, RowBench& bench, storage::Disk& disk,
                      storage::StorageAnswer& answer, Clock& clock) {
  FioBench fio(request, bench, disk, answer, clock);
  for (const RowKind kind : storage::kRunOrder) {
    const bool measured = storage::rate_in(answer.rows, kind).has_value();
    answer.against.push_back(
        storage::compare(kind, measured ? fio.pairs_of(kind) : std::vector<storage::FioPair>{}));
  }
  std::sort(answer.against.begin(), answer.against.end(),
            [](const auto& a, const auto& b) { return a.kind < b.kind; });
}

}  // namespace muster
