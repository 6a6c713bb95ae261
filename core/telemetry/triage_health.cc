#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/timestamp.h"
#include "core/telemetry/triage_state.h"

// Findings about single GPUs and ports: stragglers, limits, throttling, links, memory, Xid.

namespace muster {
namespace {

// A corrected-error storm: the public case counts 17,713 a second with 8 remapped rows; a healthy
// GPU counts a few a day. Rows being remapped make a tenth of that enough.
constexpr double kStormPerS = 100, kStormWithRemapsPerS = 10;

Finding gpu_finding(const TriageState& s, SeriesId id, Severity severity, Confidence confidence,
                    Cause cause, std::string summary) {
  Finding f;
  f.severity = severity;
  f.confidence = confidence;
  f.cause = cause;
  f.culprits = {s.fleet.culprit(id)};
  f.summary = std::move(summary);
  return f;
}

std::string value_text(Reading r, std::string_view format_unit) {
  if (!r.has_value()) return "-";
  return fmt::format("{:.4g}{}{}", r.value(), format_unit.empty() ? "" : " ", format_unit);
}

std::string state_text(const TriageState& s, SeriesId id) {
  const SeriesState& g = s.series[id];
  return fmt::format("{}: {}, {}, {}", s.label(id), value_text(g.power(), "W"),
                     value_text(g.get(Metric::util_gpu_percent), "%"),
                     value_text(g.get(Metric::sm_clock_mhz), "MHz"));
}

// The other GPUs of the same model, to show what the odd one is held against.
void add_peer_evidence(const TriageState& s, SeriesId odd, Finding& f) {
  f.evidence.push_back(evidence_of(s, odd, state_text(s, odd)));
  for (SeriesId id = 0; id < s.series.size() && f.evidence.size() < 4; ++id) {
    if (id == odd || !s.in_run(id) || s.fleet.identity(id).name != s.fleet.identity(odd).name) {
      continue;
    }
    f.evidence.push_back(evidence_of(s, id, state_text(s, id)));
  }
}

bool draws_little(const SeriesState& g) {
  return g.low_power.judged >= 3 && g.low_power.share() >= 0.8;
}

// Low ones that make up a host, or stand at an end of the run, are a stage of a pipeline with less
// to do. Without ranks the last GPU of the last host is taken for the end.
bool is_stage(const TriageState& s, SeriesId id) {
  const SeriesIdentity& self = s.fleet.identity(id);
  std::size_t low_here = 0, here = 0;
  std::map<std::tuple<int, std::string_view, int>, bool> low_in_order;
  const auto place = [](const SeriesIdentity& who) {
    return std::tuple(who.rank.value_or(-1), std::string_view(who.host), who.index.value_or(-1));
  };
  for (SeriesId other = 0; other < s.series.size(); ++other) {
    const SeriesIdentity& who = s.fleet.identity(other);
    if (who.kind != SeriesKind::gpu || !s.in_run(other)) continue;
    const bool low = draws_little(s.series[other]);
    low_in_order[place(who)] = low;
    here += who.host == self.host;
    low_here += who.host == self.host && low;
  }
  if (here >= 2 && low_here == here) return true;
  if (!self.rank && (here < 2 || !self.index)) return false;
  const auto at = low_in_order.find(place(self));
  const auto is_low = [](const auto& gpu) { return gpu.second; };
  if (std::all_of(at, low_in_order.end(), is_low)) return true;
  return self.rank && std::all_of(low_in_order.begin(), at, is_low);
}

// A lame board and a rank with less to do look alike in power. It is more than a hint where the
// hardware is known to be the same, clock and utilization are known and those of its peers, and the
// rank is at neither end of a pipeline.
Confidence straggler_confidence(const TriageState& s, SeriesId id) {
  const SeriesState& g = s.series[id];
  if (s.fleet.identity(id).name.empty() || g.low_clock.judged < 3) return Confidence::low;
  const bool other_work = g.high_clock.share() >= 0.5 || g.odd_util.share() >= 0.5;
  return other_work || is_stage(s, id) ? Confidence::low : Confidence::medium;
}

void add_straggler(const TriageState& s, SeriesId id, std::vector<Finding>& out) {
  const SeriesState& g = s.series[id];
  const bool throttled = g.hw_throttle.two_of_last_three() || g.sw_thermal.share() >= 0.5;
  if (!draws_little(g) || throttled) return;
  // Three samples of one second are no load test.
  if (g.at - g.first_at < std::chrono::seconds(20)) return;
  const bool slow_clock = g.low_clock.judged >= 3 && g.low_clock.share() >= 0.8;
  const bool fast_clock = g.high_clock.judged >= 3 && g.high_clock.share() >= 0.5;
  const Confidence confidence = straggler_confidence(s, id);
  Finding f =
      gpu_finding(s, id, Severity::warning, confidence, Cause::gpu_power_straggler,
                  fmt::format("{} draws {:.0f} % of what its peers draw at full "
                              "utilization{}; {}",
                              s.label(id), g.low_power_ratio * 100,
                              slow_clock   ? ", at a lower clock"
                              : fast_clock ? ", at a higher clock"
                                           : "",
                              g.hw_throttle.judged > 0 ? "no throttle reason is set"
                                                       : "whether it is throttled is not told"));
  add_peer_evidence(s, id, f);
  if (confidence == Confidence::low) {
    f.actions = {Action::recheck, Action::collect_evidence};
    f.next =
        "find out whether that rank has as much to do as the others (stage of a pipeline, another "
        "job's GPU) before anything is done to the board";
  } else {
    f.actions = {Action::drain_host, Action::power_cycle_host, Action::check_power_cooling};
    f.next =
        "take the node out, cut its power fully, compare power under load again, if all ranks do "
        "the same work";
  }
  out.push_back(std::move(f));
}

bool hardware_slowdown(const SeriesState& g) {
  return g.hw_throttle.two_of_last_three() ||
         (g.hw_throttle.hits >= 3 && g.hw_throttle.share() >= 0.5);
}
bool thermal_slowdown(const SeriesState& g) {
  return g.sw_thermal.judged >= 3 && g.sw_thermal.share() >= 0.5;
}

void add_throttle(const TriageState& s, SeriesId id, std::vector<Finding>& out) {
  const SeriesState& g = s.series[id];
  const bool hardware = hardware_slowdown(g);
  if (!hardware && !thermal_slowdown(g)) return;
  // Flags with a clock like the peers' cost nothing: a hint only.
  const bool compared = g.clock_held_down.judged >= 3;
  const bool slower = compared && g.clock_held_down.share() >= 0.3;
  if (compared && !slower) return;
  const Severity severity = hardware && slower ? Severity::critical : Severity::warning;
  Finding f = gpu_finding(
      s, id, severity, slower ? Confidence::high : Confidence::medium,
      severity == Severity::critical ? Cause::thermal_throttle_dips : Cause::throttled,
      fmt::format("{} is held down by {}{}", s.label(id),
                  hardware ? "hardware slowdown (thermal or power brake)" : "its temperature",
                  slower ? " and runs slower than its peers" : ""));
  add_peer_evidence(s, id, f);
  const Reading mask = g.get(Metric::throttle_mask);
  if (mask.has_value()) {
    f.evidence.push_back(
        evidence_of(s, id, fmt::format("clock event reasons {:#x}", throttle_bits(mask))));
  }
  f.actions = {Action::check_power_cooling, Action::drain_host};
  f.next = "temperature, fans, power supplies and cables of that node";
  out.push_back(std::move(f));
}

// Where nearly all are held down there is no peer that runs faster, and the whole run is slow.
void add_fleet_throttle(const TriageState& s, std::vector<Finding>& out) {
  std::size_t judged = 0, held = 0, hardware = 0;
  std::set<std::string> hosts;
  std::optional<SeriesId> example;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    if (g.hw_throttle.judged < 3) continue;
    ++judged;
    // Alone in its flags, and as slow as that: said for that GPU.
    const bool flagged = hardware_slowdown(g) || thermal_slowdown(g);
    const bool said = g.clock_held_down.judged < 3 || g.clock_held_down.share() >= 0.3;
    if (!flagged || said) continue;
    ++held;
    hardware += hardware_slowdown(g);
    hosts.insert(s.fleet.identity(id).host);
    if (!example) example = id;
  }
  if (held < 2 || held * 5 < judged * 4) return;
  Finding f;
  f.severity = Severity::warning;
  f.confidence = Confidence::medium;
  f.cause = Cause::throttled;
  for (const std::string& host : hosts) f.culprits.push_back({CulpritKind::host, host});
  f.summary = fmt::format(
      "{} of {} GPUs at work are held down by {}: the whole run is slow", held, judged,
      hardware * 2 > held ? "hardware slowdown (thermal or power brake)" : "their temperature");
  const auto bits = throttle_bits(s.series[*example].get(Metric::throttle_mask));
  f.evidence.push_back(evidence_of(
      s, *example, fmt::format("{}, clock event reasons {:#x}", state_text(s, *example), bits)));
  f.actions = {Action::check_power_cooling};
  f.next = "cooling and power of the room and the racks, then of each node";
  out.push_back(std::move(f));
}

void add_pcie(const TriageState& s, SeriesId id, std::vector<Finding>& out) {
  const SeriesState& g = s.series[id];
  const bool gen = g.pcie_gen_low.judged >= 2 && g.pcie_gen_low.share() >= 0.8;
  const bool width = g.pcie_width_low.judged >= 2 && g.pcie_width_low.share() >= 0.8;
  if (!gen && !width) return;
  Finding f = gpu_finding(
      s, id, Severity::warning, Confidence::high, Cause::pcie_link_degraded,
      fmt::format("{}: PCIe link at generation {} width {} under load, it can do {} and {}",
                  s.label(id), value_text(g.get(Metric::pcie_gen), ""),
                  value_text(g.get(Metric::pcie_width), ""),
                  value_text(g.get(Metric::pcie_gen_max), ""),
                  value_text(g.get(Metric::pcie_width_max), "")));
  f.evidence.push_back(evidence_of(s, id, state_text(s, id)));
  f.actions = {Action::drain_host, Action::check_power_cooling, Action::recheck};
  f.next = "reseat the GPU or riser, read the link again under load";
  out.push_back(std::move(f));
}

void add_memory(const TriageState& s, SeriesId id, std::vector<Finding>& out) {
  const SeriesState& g = s.series[id];
  const double remaps = g.get(Metric::remapped_corrected).value_or(0) +
                        g.get(Metric::remapped_uncorrected).value_or(0);
  const double rate = g.ecc_corrected.rate_per_s().value_or(0);
  if (g.get(Metric::remap_failed).value_or(0) > 0) {
    out.push_back(gpu_finding(s, id, Severity::critical, Confidence::high,
                              Cause::gpu_memory_worn_out,
                              s.label(id) + ": a row remap failed, its memory is worn out"));
    out.back().actions = {Action::replace_gpu, Action::drain_host};
    out.back().next = "drain the node, open a replacement case";
  } else if (g.ecc_uncorrected.grown > 0 || g.get(Metric::remap_pending).value_or(0) > 0) {
    out.push_back(
        gpu_finding(s, id, Severity::critical, Confidence::high, Cause::ecc_uncorrectable,
                    g.ecc_uncorrected.grown > 0
                        ? fmt::format("{}: {:.0f} uncorrectable memory errors in this recording",
                                      s.label(id), g.ecc_uncorrected.grown)
                        : s.label(id) + ": a row remap waits for a reset of the GPU"));
    out.back().actions = {Action::drain_host, Action::reset_gpu};
    out.back().next = "reset the GPU when the job is off it; replace it if the errors return";
  } else if (rate >= kStormPerS || (remaps > 0 && rate >= kStormWithRemapsPerS)) {
    out.push_back(
        gpu_finding(s, id, Severity::warning, Confidence::high, Cause::ecc_correctable_storm,
                    fmt::format("{}: {:.0f} corrected memory errors a second, {:.0f} rows remapped",
                                s.label(id), rate, remaps)));
    out.back().actions = {Action::drain_host, Action::reset_gpu, Action::collect_evidence};
    out.back().next =
        "drain after the current checkpoint, reset and diagnose that GPU; a stuck "
        "monitor is a consequence";
  } else {
    return;
  }
  out.back().evidence.push_back(
      evidence_of(s, id,
                  fmt::format("corrected {}, uncorrected {}, remapped {:.0f}",
                              value_text(g.get(Metric::ecc_corrected), ""),
                              value_text(g.get(Metric::ecc_uncorrected), ""), remaps)));
  if (s.steps.monitor_quote) {
    out.back().evidence.push_back(
        {s.step_source, s.steps.monitor_quote->line, s.steps.monitor_quote->text});
  }
}

struct XidMeaning {
  int code;
  Severity severity;
  Cause cause;
  Action action;
};
// Only what a gauge can tell; the kernel log tells all of them.
constexpr XidMeaning kXids[] = {
    {79, Severity::critical, Cause::gpu_fell_off_bus, Action::power_cycle_host},
    {48, Severity::critical, Cause::ecc_uncorrectable, Action::reset_gpu},
    {95, Severity::critical, Cause::ecc_uncorrectable, Action::reset_gpu},
    {62, Severity::critical, Cause::gpu_firmware_hang, Action::reset_gpu},
    {119, Severity::critical, Cause::gpu_firmware_hang, Action::reset_gpu},
    {120, Severity::critical, Cause::gpu_firmware_hang, Action::reset_gpu},
    {74, Severity::critical, Cause::nvlink_down, Action::reset_gpu},
    {94, Severity::warning, Cause::ecc_contained, Action::restart_from_checkpoint},
    {13, Severity::info, Cause::app_memory_fault, Action::fix_code},
    {31, Severity::info, Cause::app_memory_fault, Action::fix_code},
    {43, Severity::info, Cause::app_memory_fault, Action::fix_code},
};

void add_xid(const TriageState& s, SeriesId id, std::vector<Finding>& out) {
  const SeriesState& g = s.series[id];
  const Reading newest = g.get(Metric::last_xid);
  if (!g.first_xid || !newest.has_value()) return;
  if (g.new_xids.empty()) {
    if (*g.first_xid <= 0 || *g.first_xid >= 1e6) return;
    // The gauge keeps its value for ever: an old event, or the same one again; the log knows.
    Finding f = gpu_finding(s, id, Severity::info, Confidence::medium, Cause::stale_metric,
                            fmt::format("{}: the gauge shows Xid {} since before this recording; "
                                        "it keeps an old value",
                                        s.label(id), static_cast<int>(*g.first_xid)));
    f.culprits.clear();
    f.actions = {Action::recheck};
    f.next = "read the kernel log of that host for its time";
    out.push_back(std::move(f));
    return;
  }
  // The table stands in the order of weight; one finding a GPU is enough.
  for (const XidMeaning& xid : kXids) {
    const int code = xid.code;
    if (std::find(g.new_xids.begin(), g.new_xids.end(), code) == g.new_xids.end()) continue;
    out.push_back(gpu_finding(s, id, xid.severity, Confidence::high, xid.cause,
                              fmt::format("{}: Xid {} in this recording", s.label(id), code)));
    out.back().evidence.push_back(
        evidence_of(s, id, fmt::format("last Xid {} -> {}", *g.first_xid, code)));
    out.back().actions = {xid.action, Action::collect_evidence};
    out.back().next = "read the kernel log around it: the first Xid counts, not the last";
    return;
  }
}

void add_port(const TriageState& s, SeriesId id, std::vector<Finding>& out) {
  const SeriesState& p = s.series[id];
  const Reading state = p.get(Metric::ib_state);
  const bool down = state.has_value() && state.value() != 4 && p.port_was_active;
  const bool flapped = p.link_downed.grown > 0;
  const double symbol_rate = p.symbol_errors.rate_per_s().value_or(0);
  // Any growth of symbol errors means little on PAM4 links; 120 an hour is the fatal limit
  // elsewhere on older ones, 10 a second is trouble on all.
  if (!down && !flapped && symbol_rate <= 10) return;
  Finding f =
      gpu_finding(s, id, down || flapped ? Severity::critical : Severity::warning,
                  down || flapped ? Confidence::high : Confidence::medium,
                  down ? Cause::ib_port_down : Cause::ib_link_faulty,
                  down ? fmt::format("port {} was active and is down now", s.fleet.culprit(id).id)
                  : flapped ? fmt::format("port {} went down {:.0f} times in this recording",
                                          s.fleet.culprit(id).id, p.link_downed.grown)
                            : fmt::format("port {}: {:.0f} symbol errors a second",
                                          s.fleet.culprit(id).id, symbol_rate));
  f.actions = {Action::check_link, Action::disable_port_pair};
  f.next = "cable, transceiver and both ends of that link";
  out.push_back(std::move(f));
}

// One GPU with a lower power cap slows all others; many of them are a site's choice.
void add_limits(const TriageState& s, std::vector<Finding>& out) {
  std::map<std::string_view, std::map<double, std::vector<SeriesId>>> by_model;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const std::optional<double> limit_w = s.series[id].limit.steady_w();
    // Unnamed GPUs may be of several models.
    if (limit_w && s.in_run(id) && !s.fleet.identity(id).name.empty()) {
      by_model[s.fleet.identity(id).name][*limit_w].push_back(id);
    }
  }
  for (const auto& [model, by_limit] : by_model) {
    std::size_t total = 0;
    double usual = 0;
    std::size_t most = 0;
    for (const auto& [limit, ids] : by_limit) {
      total += ids.size();
      if (ids.size() > most) {
        most = ids.size();
        usual = limit;
      }
    }
    if (most * 4 < total * 3) continue;
    for (const auto& [limit, ids] : by_limit) {
      if (limit >= 0.97 * usual) continue;
      for (const SeriesId id : ids) {
        Finding f = gpu_finding(
            s, id, Severity::warning, Confidence::high, Cause::power_limit_lower,
            fmt::format("{}: power limit {:.0f} W, its peers have {:.0f} W: it slows all of them",
                        s.label(id), limit, usual));
        f.evidence.push_back(evidence_of(s, id, state_text(s, id)));
        f.actions = {Action::fix_config, Action::recheck};
        f.next = "set the limit of that GPU to that of the others";
        out.push_back(std::move(f));
      }
    }
  }
}

// Looks sick and is not: said once, only where nothing else is to say.
void add_normal_power_management(const TriageState& s, std::vector<Finding>& out) {
  std::size_t idle_links = 0, capped = 0;
  std::optional<SeriesId> example;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    const Reading gen = g.get(Metric::pcie_gen), gen_max = g.get(Metric::pcie_gen_max);
    const Reading width = g.get(Metric::pcie_width), width_max = g.get(Metric::pcie_width_max);
    const bool full_width =
        !width.has_value() || !width_max.has_value() || width.value() >= width_max.value();
    const bool idle = g.util().value_or(0) <= 5;
    if (idle && g.pcie_gen_low.judged == 0 && gen.has_value() && gen_max.has_value() &&
        gen.value() < gen_max.value() && full_width) {
      ++idle_links;
      example = id;
    }
    if (g.power_cap.judged >= 3 && g.power_cap.share() >= 0.5) {
      ++capped;
      if (!example) example = id;
    }
  }
  if (!example) return;
  Finding f;
  f.severity = Severity::ok;
  f.confidence = Confidence::high;
  f.cause = Cause::normal_power_management;
  f.summary = idle_links > 0
                  ? fmt::format(
                        "PCIe link of {} idle GPU{} at low speed and full width: power "
                        "saving, it trains up under load",
                        idle_links, idle_links == 1 ? "" : "s")
                  : fmt::format("{} GPUs run into their power cap at full load: normal", capped);
  f.evidence.push_back(evidence_of(s, *example, state_text(s, *example)));
  f.actions = {idle_links > 0 ? Action::recheck : Action::none};
  f.next = idle_links > 0 ? "read the link again under load before judging it" : "none";
  out.push_back(std::move(f));
}

}  // namespace

void add_health_findings(const TriageState& s, Report& report) {
  std::vector<Finding> found;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    switch (s.fleet.identity(id).kind) {
      case SeriesKind::port:
        add_port(s, id, found);
        break;
      case SeriesKind::gpu:
        add_memory(s, id, found);
        add_xid(s, id, found);
        add_throttle(s, id, found);
        add_straggler(s, id, found);
        add_pcie(s, id, found);
        break;
      default:
        break;
    }
  }
  add_fleet_throttle(s, found);
  add_limits(s, found);
  add_normal_power_management(s, found);
  for (Finding& f : found) report.findings.push_back(std::move(f));
}

}  // namespace muster
