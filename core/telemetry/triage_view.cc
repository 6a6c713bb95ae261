#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/telemetry/gpu_model.h"
#include "core/telemetry/triage_state.h"

namespace muster {
namespace {

Phase phase_of(PowerLevel level, std::optional<double> util, bool proven) {
  if (level == PowerLevel::none) return Phase::unknown;
  const bool zero = util && *util <= 5;
  if (level == PowerLevel::idle) return zero || !util ? Phase::idle : Phase::waiting;
  if (level == PowerLevel::floor) return zero ? Phase::context_idle : Phase::waiting;
  if (!proven) return Phase::unknown;
  if (level == PowerLevel::high) return Phase::compute;
  return !util || *util >= 90 ? Phase::communication : Phase::starved;
}

std::string label_of(const TriageState& s, SeriesId id) {
  std::string full = s.fleet.culprit(id).id;
  const std::string& host = s.fleet.identity(id).host;
  if (full.size() > host.size() + 1 && full.starts_with(host + "/")) {
    return full.substr(host.size() + 1);
  }
  return full;
}

GpuView view_of(const TriageState& s, SeriesId id, const TickInput* in, WallTime now) {
  const SeriesState& g = s.series[id];
  const SeriesIdentity& who = s.fleet.identity(id);
  GpuView v;
  v.host = who.host;
  v.label = label_of(s, id);
  v.rank = who.rank;
  const GpuModel* model = find_gpu_model(who.name);
  v.model = model != nullptr ? std::string(model->name) : who.name;
  v.power_w = g.power();
  v.power_limit_w = g.get(Metric::power_limit_w);
  v.util_percent = g.get(Metric::util_gpu_percent);
  v.sm_clock_mhz = g.get(Metric::sm_clock_mhz);
  v.temperature_c = g.get(Metric::temperature_c);
  v.mem_used_bytes = g.get(Metric::mem_used_bytes);
  v.mem_total_bytes = g.get(Metric::mem_total_bytes);
  if (v.power_w.has_value() && g.bands.full_w > 0) {
    v.power_ratio = Reading::of(v.power_w.value() / g.bands.full_w);
  }
  v.age = std::max(now - g.at - g.behind, Duration{});
  v.stale = !s.fresh(id) || v.age > std::chrono::seconds(30);
  if (in != nullptr) v.phase = phase_of(in->level, in->util_percent, in->levels_proven);
  v.odd = s.tick.odd == id;
  return v;
}

std::string bands_source(const TriageState& s) {
  std::set<std::string> sources;
  for (const TickInput& in : s.inputs) {
    const Bands& bands = s.series[in.id].bands;
    std::string text(bands.source);
    if (bands.source == "calibration") text += " " + s.options.calibration.source;
    sources.insert(std::move(text));
  }
  std::string out;
  for (const std::string& source : sources) out += (out.empty() ? "" : "; ") + source;
  return out;
}

}  // namespace

FleetView Triage::view(WallTime now) const {
  TriageState& s = *state_;
  if (s.tick_open) close_tick(s);
  FleetView v;
  v.at = s.newest.value_or(now);
  v.undated = s.undated;
  v.phase = phase_now(s);
  v.shape = s.tick.shape;
  v.step = s.steps.last_step;
  v.target_step = s.steps.target_step;
  v.bands_source = bands_source(s);
  if (!s.undated) v.segments.assign(s.closed_segments.begin(), s.closed_segments.end());
  if (s.segment && !s.undated) {
    PhaseSegment open = s.segment->segment;
    if (const auto w = s.segment->power_w.quantile()) open.power_w_median = Reading::of(*w);
    if (const auto u = s.segment->util_percent.quantile()) {
      open.util_percent_median = Reading::of(*u);
    }
    if (s.segment->odd) open.odd = s.label(*s.segment->odd);
    if (v.phase == Phase::hang_suspected) open.phase = Phase::hang_suspected;
    v.phase_for = open.to - open.from;
    v.segments.push_back(std::move(open));
  }
  auto in = s.inputs.begin();  // in the order of ids, like the series
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const bool judged = in != s.inputs.end() && in->id == id;
    const TickInput* input = judged ? &*in++ : nullptr;
    if (s.fleet.identity(id).kind != SeriesKind::port && s.series[id].rows > 0) {
      v.gpus.push_back(view_of(s, id, input, now));
    }
  }
  std::stable_sort(v.gpus.begin(), v.gpus.end(),
                   [](const GpuView& a, const GpuView& b) { return a.host < b.host; });
  return v;
}

}  // namespace muster
