#include <fmt/core.h>

#include <algorithm>

#include "core/telemetry/triage_state.h"

namespace muster {
namespace {

using Bins = std::vector<std::uint32_t>;

std::uint64_t total_of(const Bins& bins, double from_w = 0, double to_w = 1e9) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double w = static_cast<double>(i) * PowerHistogram::kBinW;
    if (w >= from_w && w < to_w) total += bins[i];
  }
  return total;
}

// Upper edge of the bin that holds the share-th value between two powers; 0 where there is none.
double quantile(const Bins& bins, double share, double from_w = 0, double to_w = 1e9) {
  const std::uint64_t total = total_of(bins, from_w, to_w);
  if (total == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(total - 1));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double w = static_cast<double>(i) * PowerHistogram::kBinW;
    if (w < from_w || w >= to_w) continue;
    seen += bins[i];
    if (seen > rank) return w + PowerHistogram::kBinW;
  }
  return 0;
}

// The bands of one model. The high level is the 90th percentile of the samples at work; the floor
// lies between the highest wait that was seen and half of that; compute starts at three quarters of
// the median of compute, below the dips of a healthy step (5.3 kW of 7.1 on an 8-GPU H100 node).
// Of a whole node no utilization tells whether the wait that was seen was kernels that spin or a
// start with loaded contexts (152 against 121 W a GPU, a tenth of the node), and hosts differ: its
// floor reaches higher, still below starvation (0.65 of compute).
std::optional<CalibratedBands> learn(const std::string& model, const PowerHistogram& h) {
  const double high_w = quantile(h.work, 0.90);
  if (high_w <= 0 || total_of(h.work) < 10) return std::nullopt;
  const bool node = model == "node";
  // A GPU that never drew half its limit was never at work, whatever its utilization said.
  if (h.limit_w && high_w < 0.45 * *h.limit_w) return std::nullopt;
  const double floor_top = (node ? 0.52 : 0.42) * high_w;
  CalibratedBands b;
  b.model = model;
  b.limit_w = h.limit_w;
  b.samples = total_of(h.work) + total_of(h.zero);
  b.compute_w = quantile(h.work, 0.50, 0.60 * high_w);
  b.compute_min_w = 0.75 * b.compute_w;
  const double wait_w = quantile(h.work, 0.99, 0, floor_top);
  const double margin = node ? 1.25 : 1.15, cap = node ? 0.55 : 0.5;
  b.wait_max_w = wait_w > 0 ? std::min(margin * wait_w, cap * b.compute_w) : floor_top;
  // Without a single idle sample the idle band stays empty: nothing is made up.
  const double zero_low_w = quantile(h.zero, 0.01);
  const double zero_w = quantile(h.zero, 0.50);
  if (zero_w > 0 && zero_low_w > 0 && wait_w > 0 && zero_low_w < 0.9 * wait_w) {
    b.idle_max_w = std::min(1.05 * zero_low_w, 0.95 * wait_w);
  }
  return b;
}

double spread_of(const TriageState& s, std::string_view model, double median_w) {
  std::optional<double> low, high;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    const SeriesIdentity& who = s.fleet.identity(id);
    if (g.high_rows < 5 || (who.kind == SeriesKind::node ? "node" : who.name) != model) continue;
    const double mean = g.high_sum_w / static_cast<double>(g.high_rows);
    low = std::min(low.value_or(mean), mean);
    high = std::max(high.value_or(mean), mean);
  }
  return low && median_w > 0 ? (*high - *low) / median_w : 0;
}

}  // namespace

Result<Calibration> Triage::calibrate(std::string_view source_name) const {
  TriageState& s = *state_;
  if (s.tick_open) close_tick(s);
  Calibration out;
  out.source = source_name;
  for (const auto& [model, histogram] : s.histograms) {
    if (auto bands = learn(model, histogram)) {
      bands->spread_ratio = spread_of(s, model, bands->compute_w);
      out.bands.push_back(std::move(*bands));
    }
  }
  if (out.bands.empty()) {
    return make_error(Errc::unsupported,
                      "calibrating: fewer than ten samples of power at work; record a known-good "
                      "run in full swing");
  }
  for (const auto& known : {s.waits.longest_healthy(), s.steps.longest_save}) {
    if (known) out.longest_wait = std::max(out.longest_wait.value_or(Duration{}), *known);
  }
  out.longest_quiet = s.steps.longest_quiet;
  out.step_s = s.steps.step_seconds.quantile();
  MedianSketch periods;
  std::int64_t in_run = 0;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    if (!s.in_run(id)) continue;
    ++in_run;
    if (s.series[id].period_s) periods.add(*s.series[id].period_s);
  }
  out.period_s = periods.quantile();
  out.series = in_run;
  return out;
}

}  // namespace muster
