#include "app/row_bench.h"

#include <fmt/core.h>

#include <utility>

namespace muster {
namespace {

using storage::not_measured;
using storage::RowKind;
using storage::RowResult;
using storage::unsupported;

// Pages that may be left of a file that was dropped, and missing of one that was read: a few are
// always on their way between the kernel's lists.
constexpr double kFewPages = 0.001;
// How much more of the file may be in the page cache after reads past it. The file system that goes
// through it in secret has all of what was read there.
constexpr double kDirectGrowth = 0.02;
constexpr int kDropAttempts = 5;

std::string percent(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

}  // namespace

std::function<void(std::uint64_t)> progress_of(const BenchStorageRequest& request,
                                               const std::string& what, Clock& clock) {
  if (!request.progress) return {};
  const MonoTime start = clock.mono();
  return [&request, &clock, what, start](std::uint64_t bytes) {
    request.progress({what, bytes, clock.mono() - start});
  };
}

RowBench::RowBench(const BenchStorageRequest& request, std::vector<storage::RowPlan> plan,
                   std::shared_ptr<storage::ReadTarget> target,
                   const storage::StorageAnswer& answer, Clock& clock)
    : request_(request),
      plan_(std::move(plan)),
      target_(std::move(target)),
      answer_(answer),
      clock_(clock),
      habit_(storage::habit_of(answer.place.file_system)) {}

const storage::RowPlan& RowBench::plan_of(RowKind kind) const {
  return plan_[static_cast<std::size_t>(kind)];
}

RowResult RowBench::failed(RowKind kind, const Error& error) {
  if (error.code == Errc::timeout) hangs_ = true;
  if (error.code == Errc::unsupported) return unsupported(kind, error.context);
  return not_measured(kind, error.context);
}

RowResult RowBench::measure(RowKind kind, const std::string& what) {
  if (auto reason = prepare(kind)) return *std::move(reason);
  const std::string title = what.empty() ? std::string(storage::row_name(kind)) : what;
  const RowWatch watch{request_.stop, request_.patience, progress_of(request_, title, clock_)};
  const auto run = read_row(plan_of(kind), target_, clock_, watch);
  if (!run) return failed(kind, run.error());
  if (auto reason = misfit_after(kind)) return *std::move(reason);
  const auto rate = storage::rate_of(run->streams);
  if (!rate) return not_measured(kind, "it was over before the clock moved");
  RowResult result;
  result.kind = kind;
  result.state = storage::RowState::measured;
  result.rate = *rate;
  result.engine = run->engine;
  return result;
}

std::optional<RowResult> RowBench::prepare(RowKind kind) {
  if (request_.stop.stop_requested()) return not_measured(kind, "stopped");
  if (hangs_) return not_measured(kind, "reads hang here: not tried");
  if (kind == RowKind::cold) return prepare_cold();
  if (kind == RowKind::warm) return prepare_warm();
  return prepare_direct(kind);
}

std::optional<RowResult> RowBench::prepare_direct(RowKind kind) {
  if (habit_.in_memory) {
    return unsupported(kind, fmt::format("{}: {}", answer_.place.file_system, habit_.remark));
  }
  // Only where pages are missing it shows that they come: misfit_after().
  static_cast<void>(target_->drop_cache());
  const auto resident = target_->residency(answer_.file_bytes);
  resident_before_ = resident ? std::optional<double>(*resident) : std::nullopt;
  return {};
}

std::optional<RowResult> RowBench::prepare_cold() {
  constexpr RowKind kCold = RowKind::cold;
  if (habit_.in_memory || habit_.own_cache) {
    return not_measured(kCold, fmt::format("{}: {}", answer_.place.file_system, habit_.remark));
  }
  double left = 1;
  for (int attempt = 0; attempt < kDropAttempts && left > kFewPages; ++attempt) {
    if (Status dropped = target_->drop_cache(); !dropped) {
      return not_measured(kCold, dropped.error().context);
    }
    const auto resident = target_->residency(answer_.file_bytes);
    if (!resident) return not_measured(kCold, resident.error().context);
    left = *resident;
  }
  if (left <= kFewPages) return {};
  return not_measured(kCold, fmt::format("{} of the file stayed in the page cache: another "
                                         "program holds it",
                                         percent(left)));
}

std::optional<RowResult> RowBench::prepare_warm() {
  constexpr RowKind kWarm = RowKind::warm;
  const auto available = answer_.place.available_bytes;
  if (available && answer_.file_bytes > *available) {
    return not_measured(kWarm, fmt::format("the file is larger than the memory for it ({})",
                                           storage::size_text(static_cast<double>(*available))));
  }
  const auto resident = [this] { return target_->residency(answer_.file_bytes); };
  if (auto now = resident(); now && *now >= 1 - kFewPages) return {};
  storage::RowPlan fill = plan_of(RowKind::cold);
  const RowWatch watch{request_.stop, request_.patience, progress_of(request_, "filling", clock_)};
  if (const auto run = read_row(fill, target_, clock_, watch); !run) {
    return failed(kWarm, run.error());
  }
  const auto now = resident();
  if (!now) return not_measured(kWarm, now.error().context);
  if (*now >= 1 - kFewPages) return {};
  return not_measured(kWarm, fmt::format("only {} of the file stayed in the page cache after it "
                                         "was read",
                                         percent(*now)));
}

std::optional<RowResult> RowBench::misfit_after(RowKind kind) {
  const auto resident = target_->residency(answer_.file_bytes);
  if (!resident) return {};
  if (kind == RowKind::warm && *resident < 1 - kFewPages) {
    return not_measured(
        kind, fmt::format("only {} of the file stayed in the page cache", percent(*resident)));
  }
  const bool direct = plan_of(kind).direct;
  if (direct && resident_before_ && *resident > *resident_before_ + kDirectGrowth) {
    return unsupported(kind, "the file system took O_DIRECT and went through the page cache");
  }
  return {};
}

}  // namespace muster
