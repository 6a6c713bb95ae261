#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/timestamp.h"
#include "core/telemetry/triage_state.h"

// Findings about what is not there: lost GPUs, series that end, values that stand still, copies,
// columns without values, readers that hang. Missing is never zero and never healthy.

namespace muster {
namespace {

using namespace std::chrono_literals;

std::string gpu_of_note(const TriageState& s, const NoteSeen& note) {
  const std::string host = note.host.empty() ? "this" : note.host;
  if (note.index) return fmt::format("{}/{}", host, *note.index);
  const std::string pci = normalize_pci(note.pci);
  if (pci.empty()) return {};
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesIdentity& who = s.fleet.identity(id);
    if (who.pci == pci && who.host == host) return s.fleet.culprit(id).id;
  }
  return host + "/" + pci;
}

Finding lost_gpu(const std::string& id, Evidence evidence) {
  Finding f;
  f.severity = Severity::critical;
  f.confidence = Confidence::high;
  f.cause = Cause::gpu_fell_off_bus;
  f.culprits = {id.empty() ? Culprit{CulpritKind::unknown, ""} : Culprit{CulpritKind::gpu, id}};
  f.summary = fmt::format("GPU {} is lost: the driver cannot reach it any more",
                          id.empty() ? "(not named)" : id);
  f.evidence = {std::move(evidence)};
  f.actions = {Action::drain_host, Action::power_cycle_host, Action::ask_vendor};
  f.next =
      "drain the node, keep its kernel log (Xid 79), cut its power; indexes renumber after a "
      "driver reload, so go by UUID";
  return f;
}

void add_lost_gpus(const TriageState& s, Report& report) {
  std::set<std::string> said;
  for (const NoteSeen& note : s.notes) {
    if (note.kind != NoteKind::gpu_lost) continue;
    const std::string id = gpu_of_note(s, note);
    if (!said.insert(id).second) continue;
    report.findings.push_back(lost_gpu(id, {note.source, note.line, note.text}));
  }
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    const std::string name = s.fleet.culprit(id).id;
    if (g.lost && said.insert(name).second) {
      report.findings.push_back(lost_gpu(name, evidence_of(s, id, s.label(id) + ": GPU is lost")));
    }
    if (!g.needs_reset) continue;
    Finding f;
    f.severity = Severity::critical;
    f.confidence = Confidence::high;
    f.cause = Cause::gpu_firmware_hang;
    f.culprits = {s.fleet.culprit(id)};
    f.summary = s.label(id) + ": the driver says that this GPU requires a reset";
    f.evidence = {evidence_of(s, id, "GPU requires reset")};
    f.actions = {Action::drain_host, Action::reset_gpu};
    f.next = "reset the GPU when the job is off it, reboot the node if that fails";
    report.findings.push_back(std::move(f));
  }
}

struct NoteMeaning {
  NoteKind kind;
  Severity severity;
  Cause cause;
  Action action;
  std::string_view summary, next;
};
constexpr NoteMeaning kNotes[] = {
    {NoteKind::driver_mismatch, Severity::critical, Cause::driver_library_mismatch,
     Action::update_driver, "the NVIDIA library and the loaded kernel module differ",
     "reload the driver or reboot the node; keep it out of new jobs until then"},
    {NoteKind::device_access, Severity::warning, Cause::container_lost_gpu,
     Action::recreate_container, "the container has lost its access to the GPUs",
     "recreate the container; the GPUs of the host are probably fine"},
    {NoteKind::reader_stuck, Severity::warning, Cause::reader_stuck, Action::collect_evidence,
     "a reader of the GPUs does not return",
     "read the kernel log of that host; do not kill the "
     "reader inside the driver"},
};

void add_notes(const TriageState& s, Report& report) {
  for (const NoteSeen& note : s.notes) {
    for (const NoteMeaning& m : kNotes) {
      if (m.kind != note.kind) continue;
      Finding f;
      f.severity = m.severity;
      f.confidence = Confidence::high;
      f.cause = m.cause;
      f.culprits = {{CulpritKind::host, note.host.empty() ? "this" : note.host}};
      f.summary = fmt::format("{}: {}", f.culprits[0].id, m.summary);
      f.evidence = {{note.source, note.line, note.text}};
      f.actions = {m.action};
      f.next = m.next;
      report.findings.push_back(std::move(f));
    }
    const bool blind = note.kind == NoteKind::driver_missing || note.kind == NoteKind::no_devices ||
                       note.kind == NoteKind::source_error || note.kind == NoteKind::device_access;
    if (blind) report.blind.push_back({note.source, note.text, true});
    if (note.kind == NoteKind::damaged_line || note.kind == NoteKind::schema ||
        note.kind == NoteKind::truncated) {
      report.notes.push_back(
          fmt::format("{}{}: {}{}", note.source, note.line > 0 ? fmt::format(":{}", note.line) : "",
                      note.text, note.count > 1 ? fmt::format(" ({} times)", note.count) : ""));
    }
  }
}

struct HostTimes {
  WallTime newest{}, oldest{};
  Duration behind{};
  std::size_t series = 0;
  double period_s = 1;
};

std::map<std::string_view, HostTimes> times_by_host(const TriageState& s) {
  std::map<std::string_view, HostTimes> hosts;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    if (g.rows == 0) continue;
    auto [it, first] =
        hosts.try_emplace(s.fleet.identity(id).host, HostTimes{g.at, g.first_at, g.behind});
    HostTimes& h = it->second;
    h.newest = std::max(h.newest, g.at);
    h.oldest = std::min(h.oldest, g.first_at);
    h.behind = std::max(h.behind, g.behind);
    h.period_s = std::max(h.period_s, g.period_s.value_or(1));
    ++h.series;
  }
  return hosts;
}

Duration patience(double period_s) {
  return seconds_to_duration(std::max(30.0, 5 * period_s));
}

// A GPU that its host speaks of no more, while it still speaks of the others.
void add_vanished(const TriageState& s, WallTime now, Report& report) {
  const auto hosts = times_by_host(s);
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    const SeriesIdentity& who = s.fleet.identity(id);
    const HostTimes& host = hosts.at(who.host);
    if (host.series < 2 || g.rows < 2 || host.newest - g.at < patience(host.period_s)) continue;
    Finding f;
    f.severity = Severity::warning;
    f.confidence = Confidence::medium;
    f.cause = Cause::series_vanished;
    f.culprits = {s.fleet.culprit(id)};
    f.since = g.at;
    f.summary =
        fmt::format("{} is reported no more since {}, its neighbours are: missing, not idle",
                    s.label(id), format_clock(g.at));
    f.evidence = {evidence_of(s, id, "its newest row")};
    f.actions = {Action::collect_evidence, Action::fix_monitoring};
    f.next = "nvidia-smi -L and the kernel log on that host: lost, or dropped by the exporter?";
    report.findings.push_back(std::move(f));
  }
  for (const auto& [host, times] : hosts) {
    if (times.behind >= 10s) {
      report.notes.push_back(
          fmt::format("{}: its times are {} behind those of the others, which is "
                      "taken for its clock",
                      host, format_duration(times.behind)));
    }
    if (now - times.newest - times.behind < patience(times.period_s)) continue;
    report.blind.push_back({std::string(host),
                            fmt::format("no sample since {}, the input goes on to {}",
                                        format_clock(times.newest), format_clock(now)),
                            true});
  }
}

void add_hosts_that_left(const TriageState& s, Report& report) {
  std::set<std::string_view> said;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    const std::string& host = s.fleet.identity(id).host;
    if (!g.out_of_run || !g.ever_active || !said.insert(host).second) continue;
    report.notes.push_back(fmt::format(
        "{}: at rest since {} while the others compute: it is taken to have left the run", host,
        format_clock(g.idle_beside_since)));
  }
}

// Two hosts whose power goes through the same values, to the last bit, are one recording under two
// names. GPUs of one host are told apart by the driver.
void add_duplicates(const TriageState& s, Report& report) {
  std::map<std::uint64_t, std::vector<SeriesId>> by_hash;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    if (g.hashed < SeriesState::kHashedRows ||
        g.hashed_high_w - g.hashed_low_w < SeriesState::kHashedSpanW) {
      continue;
    }
    std::vector<SeriesId>& ids = by_hash[g.power_hash];
    const bool known = std::any_of(ids.begin(), ids.end(), [&](SeriesId other) {
      return s.fleet.identity(other).host == s.fleet.identity(id).host;
    });
    if (!known) ids.push_back(id);
  }
  for (const auto& [hash, ids] : by_hash) {
    if (ids.size() < 2) continue;
    Finding f;
    f.severity = Severity::warning;
    f.confidence = Confidence::high;
    f.cause = Cause::duplicate_series;
    f.summary = fmt::format(
        "{} and {} have identical power readings: one is a copy of the other, "
        "not a second witness",
        s.label(ids[0]), s.label(ids[1]));
    for (std::size_t i = 0; i < std::min<std::size_t>(ids.size(), 4); ++i) {
      f.evidence.push_back(evidence_of(
          s, ids[i], fmt::format("first {} values identical", SeriesState::kHashedRows)));
    }
    f.actions = {Action::fix_monitoring};
    f.next = "find out which host this telemetry really comes from";
    report.findings.push_back(std::move(f));
    return;  // once is enough: a copied host has as many as it has GPUs
  }
}

// Power that stands still to the last digit while GPUs work is an old value served again.
void add_frozen(const TriageState& s, Report& report) {
  std::size_t frozen = 0, working = 0;
  std::optional<SeriesId> example;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    if (!s.in_run(id) || g.power_rows < 2 || g.util().value_or(100) <= 5) continue;
    ++working;
    if (g.frozen_rows < 30) continue;
    ++frozen;
    example = id;
  }
  if (!example) return;
  Finding f;
  f.severity = Severity::info;
  f.confidence = Confidence::medium;
  f.cause = Cause::stale_metric;
  f.summary = fmt::format(
      "power of {} of {} busy GPUs has not changed in its last digit for {} "
      "samples: old values served again",
      frozen, working, s.series[*example].frozen_rows);
  f.evidence = {evidence_of(s, *example, s.label(*example))};
  f.actions = {Action::fix_monitoring};
  f.next = "restart the exporter or host engine behind it, then look again";
  report.findings.push_back(std::move(f));
  report.blind.push_back({s.series[*example].source, "values stand still", true});
}

// The odd group by CPU cores, where the GPU columns of a task table are empty.
std::optional<Culprit> odd_group(const TriageState& s) {
  std::map<std::string, std::vector<double>> cores;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const Reading r = s.series[id].get(Metric::cpu_cores);
    if (r.has_value()) cores[s.fleet.identity(id).group].push_back(r.value());
  }
  if (cores.size() < 3) return std::nullopt;
  std::vector<std::pair<double, std::string>> medians;
  for (auto& [group, values] : cores) {
    std::sort(values.begin(), values.end());
    medians.emplace_back(values[values.size() / 2], group);
  }
  std::sort(medians.begin(), medians.end());
  const double usual = medians[medians.size() / 2].first;
  std::optional<Culprit> odd;
  for (const auto& [median, group] : medians) {
    if (std::abs(median - usual) <= 0.3 * usual) continue;
    if (odd || group.empty()) return std::nullopt;
    odd = Culprit{CulpritKind::group, group};
  }
  return odd;
}

void add_empty_columns(const TriageState& s, Report& report) {
  std::size_t candidates = 0, power = 0, util = 0;
  std::map<Absence, std::size_t> reasons;
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    const SeriesState& g = s.series[id];
    if (s.fleet.identity(id).kind == SeriesKind::port) continue;
    ++candidates;
    power += g.power_rows > 0;
    util += g.util_rows > 0;
    if (!g.power().has_value()) ++reasons[g.power().absence()];
  }
  if (candidates == 0 || power > 0) return;
  std::string why = "not in the input";
  for (const auto& [absence, count] : reasons) {
    if (count * 2 > candidates && absence != Absence::not_reported) why = absence_name(absence);
  }
  const bool health_only = std::any_of(s.series.begin(), s.series.end(), [](const SeriesState& g) {
    return g.ecc_corrected.first || g.get(Metric::remap_failed).has_value() ||
           g.get(Metric::pcie_gen).has_value();
  });
  report.blind.push_back({"board power", why, !health_only});
  if (health_only && util == 0) return;
  Finding f;
  const auto odd = odd_group(s);
  f.severity = odd ? Severity::warning : Severity::info;
  f.confidence = Confidence::medium;
  f.cause = Cause::evidence_missing;
  if (odd) f.culprits = {*odd};
  f.summary = fmt::format("{} of all {} series missing ({}): not idle, unknown{}",
                          util > 0 ? "board power" : "power and utilization", candidates, why,
                          odd ? "; " + odd->id + " is odd by its CPU cores alone" : "");
  for (SeriesId id = 0; id < s.series.size() && f.evidence.size() < 4; ++id) {
    const SeriesState& g = s.series[id];
    if (odd && s.fleet.identity(id).group != odd->id) continue;
    const Reading cores = g.get(Metric::cpu_cores);
    f.evidence.push_back(evidence_of(
        s, id,
        cores.has_value() ? fmt::format("{}: {:.2f} CPU cores", s.label(id), cores.value())
                          : s.label(id)));
  }
  f.actions = {Action::fix_monitoring, Action::collect_evidence};
  f.next = "get board power (muster triage --print-sampler); a hang cannot be told from this";
  report.findings.push_back(std::move(f));
}

void add_smoothing(const TriageState& s, Report& report) {
  for (SeriesId id = 0; id < s.series.size(); ++id) {
    if (s.series[id].get(Metric::power_smoothing).value_or(0) <= 0) continue;
    report.blind.push_back({s.label(id),
                            "power smoothing is on: a floor of power hides idle and hang, only a "
                            "step log can tell",
                            true});
    return;
  }
}

void add_unproven(const TriageState& s, Report& report) {
  if (s.ticks == 0 || s.phase_ticks[static_cast<std::size_t>(Phase::unknown)] < s.ticks) return;
  const bool power = std::any_of(s.series.begin(), s.series.end(),
                                 [](const SeriesState& g) { return g.power_rows > 0; });
  if (!power) return;
  report.blind.push_back({"phase",
                          "no power limit, no GPU model, no calibration, and only one level of "
                          "power was seen (add name,power.limit to the query)",
                          true});
}

// "step 240 of 500 at 14:05:58, 12 s a step, longest save 118 s"
std::string progress_text(const StepTrack& log) {
  if (!log.last_step) return "no step in it";
  std::string out = fmt::format("step {}", *log.last_step);
  if (log.target_step) out += fmt::format(" of {}", *log.target_step);
  if (log.last_step_at) out += " at " + format_clock(log.last_step_at->at);
  if (const auto step_s = log.step_seconds.quantile())
    out += fmt::format(", {:.3g} s a step", *step_s);
  if (log.longest_save) out += ", longest save " + format_duration(*log.longest_save);
  if (log.complete()) return out + ", complete";
  if (log.saving) out += ", a save is open";
  if (log.evaluating) out += ", an evaluation is open";
  return out;
}

// No row of telemetry and no word about a GPU: nothing was judged, and that is not health.
void add_nothing_judged(const TriageState& s, Report& report) {
  if (!s.series.empty() || !s.notes.empty()) return;
  report.blind.push_back({"GPU telemetry", "there is none in what was read", true});
  if (!s.steps.seen) return;
  Finding f;
  f.severity = Severity::info;
  f.confidence = Confidence::high;
  f.cause = Cause::evidence_missing;
  f.summary = fmt::format("a step log alone, {}: whether the run stands still now is not known",
                          progress_text(s.steps));
  const auto quote = [&](const std::optional<StepTrack::Quote>& line) {
    if (line) f.evidence.push_back({s.step_source, line->line, line->text});
  };
  quote(s.steps.error_quote);
  if (s.steps.saving) quote(s.steps.save_quote);
  f.actions = {Action::collect_evidence};
  f.next =
      "give the telemetry of its GPUs beside it (muster triage --print-sampler has a sampler), or "
      "watch both on their host: muster triage --follow nvml LOG";
  report.findings.push_back(std::move(f));
}

}  // namespace

void add_missing_findings(const TriageState& s, WallTime now, Report& report) {
  add_nothing_judged(s, report);
  add_lost_gpus(s, report);
  add_notes(s, report);
  add_vanished(s, now, report);
  add_hosts_that_left(s, report);
  add_duplicates(s, report);
  add_frozen(s, report);
  add_empty_columns(s, report);
  add_smoothing(s, report);
  add_unproven(s, report);
  for (const SeriesState& g : s.series) {
    if (!g.zero_watts) continue;
    report.notes.push_back("0 W readings were taken for failed reads: a live board draws more");
    break;
  }
  if (s.series_refused > 0) {
    report.blind.push_back(
        {"input",
         fmt::format("{} rows of further series refused: more than {}", s.series_refused, 65536),
         true});
  }
}

}  // namespace muster
