#include "core/telemetry/triage.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/limits.h"
#include "core/telemetry/triage_state.h"

namespace muster {
namespace {

constexpr std::size_t kNotesKept = 256;

// Power in watts that differ by chance in the second decimal: equal ones many times over are a
// copy.
bool has_decimals(double watts) {
  return watts != std::floor(watts);
}

// Values that stand still prove nothing; those that change do.
void track_power(SeriesState& s, Reading power, Reading before) {
  if (!power.has_value()) return;
  ++s.power_rows;
  if (s.hashed >= SeriesState::kHashedRows || power.value() == before.value_or(-1)) return;
  const double watts = power.value();
  s.power_hash = (s.power_hash ^ std::bit_cast<std::uint64_t>(watts)) * 1099511628211ull;
  s.hashed_low_w = s.hashed == 0 ? watts : std::min(s.hashed_low_w, watts);
  s.hashed_high_w = std::max(s.hashed_high_w, watts);
  ++s.hashed;
}

void track_counters(SeriesState& s, const MetricReading& r, WallTime at) {
  if (!r.reading.has_value()) return;
  const double value = r.reading.value();
  switch (r.metric) {
    case Metric::ecc_corrected:
      s.ecc_corrected.observe(value, at);
      break;
    case Metric::ecc_uncorrected:
      s.ecc_uncorrected.observe(value, at);
      break;
    case Metric::ib_link_downed:
      s.link_downed.observe(value, at);
      break;
    case Metric::ib_symbol_errors:
      s.symbol_errors.observe(value, at);
      break;
    case Metric::ib_state:
      s.port_was_active = s.port_was_active || value == 4;
      break;
    case Metric::last_xid:
      if (!s.first_xid) s.first_xid = value;
      if (value != *s.first_xid && value > 0 && value < 1e6 && s.new_xids.size() < 8) {
        const int code = static_cast<int>(value);
        if (s.new_xids.empty() || s.new_xids.back() != code) s.new_xids.push_back(code);
      }
      break;
    default:
      break;
  }
}

void note_absence(SeriesState& s, const MetricReading& r) {
  if (r.reading.has_value()) return;
  s.lost = s.lost || r.reading.absence() == Absence::lost;
  s.needs_reset = s.needs_reset || r.reading.absence() == Absence::needs_reset;
}

// Takes the readings of a row; a live board never draws 0 W, so that is a failed read.
void take_readings(SeriesState& s, const TelemetryRow& row, WallTime at) {
  const Reading before = s.rows > 0 ? s.power() : Reading();
  bool has_power = false;
  s.lost = s.needs_reset = false;
  for (const MetricReading& r : row.readings) {
    Reading reading = r.reading;
    const bool power = r.metric == Metric::power_w || r.metric == Metric::power_instant_w ||
                       r.metric == Metric::node_power_w;
    if (power && reading.has_value() && reading.value() <= 0) {
      reading = Reading::absent(Absence::read_error);
      s.zero_watts = true;
    }
    if (r.metric == Metric::power_limit_w && reading.has_value()) {
      if (reading.value() <= 0) {
        reading = Reading::absent(Absence::read_error);
      } else {
        s.limit.observe(reading.value(), at);
      }
    }
    has_power = has_power || power;
    if (power) s.power_told = at;
    if (r.metric == Metric::util_gpu_percent) s.util_told = at;
    s.newest[static_cast<std::size_t>(r.metric)] = reading;
    track_counters(s, {r.metric, reading}, at);
    note_absence(s, {r.metric, reading});
    s.util_rows += r.metric == Metric::util_gpu_percent && reading.has_value();
  }
  if (!has_power) return;
  const Reading power = s.power();
  track_power(s, power, before);
  if (!power.has_value() || !before.has_value()) return;
  const bool same = power.value() == before.value() && has_decimals(power.value());
  s.frozen_rows = same ? s.frozen_rows + 1 : 0;
}

void track_period(SeriesState& s, WallTime at) {
  if (s.rows == 0 || at <= s.at) return;
  const double seconds = duration_to_seconds(at - s.at);
  if (!s.period_s) {
    s.period_s = seconds;
    return;
  }
  const bool slow = seconds >= 4 * *s.period_s;
  s.slow_gaps = static_cast<std::uint8_t>((s.slow_gaps << 1) | (slow ? 1 : 0));
  if (!slow) {
    s.period_s = 0.8 * *s.period_s + 0.2 * seconds;
  } else if (std::popcount(s.slow_gaps) >= 3) {
    // Gaps are gaps, not a new period; three among eight are a slower sampler.
    s.period_s = seconds;
    s.slow_gaps = 0;
  }
}

// Clocks of hosts differ: a host whose rows always come with an older time than what is there is
// not late. The least of the newest few counts, since a row may also be handed on late.
void track_clock(SeriesState& s, WallTime at, WallTime newest) {
  if (s.rows > 0 && at <= s.at) return;  // an old value served again is late
  const Duration behind = std::clamp<Duration>(newest - at, Duration{}, limits::kClockSkew);
  s.behind = s.rows == 0 || behind < s.behind ? behind : s.behind + (behind - s.behind) / 8;
}

// "phases: compute 93.1 %, checkpoint wait 6.9 % of 1,204 ticks"
std::string phase_shares(const TriageState& t) {
  std::string out;
  for (int i = 0; i < kPhaseCount; ++i) {
    const auto ticks = t.phase_ticks[static_cast<std::size_t>(i)];
    if (ticks == 0) continue;
    out += fmt::format("{}{} {:.1f} %", out.empty() ? "phases: " : ", ",
                       phase_name(static_cast<Phase>(i)),
                       100.0 * static_cast<double>(ticks) / static_cast<double>(t.ticks));
  }
  return out + fmt::format(" of {} tick{}", t.ticks, t.ticks == 1 ? "" : "s");
}

}  // namespace

Triage::Triage(TriageOptions options) : state_(std::make_unique<TriageState>()) {
  state_->options = std::move(options);
}

Triage::~Triage() = default;

void Triage::row(const TelemetryRow& row, WallTime at, std::string_view source,
                 std::string_view default_host) {
  TriageState& t = *state_;
  const auto id = t.fleet.resolve(row.key, default_host);
  if (!id) {
    ++t.series_refused;
    return;
  }
  if (t.series.size() < t.fleet.size()) t.series.resize(t.fleet.size());
  SeriesState* s = &t.series[*id];
  // A series that speaks a second time begins the next tick.
  if (s->spoke && at > s->at) {
    close_tick(t);
    s = &t.series[*id];
  }
  if (s->rows == 0) s->first_at = at;
  track_period(*s, at);
  track_clock(*s, at, t.newest.value_or(at));
  take_readings(*s, row, at);
  ++s->rows;
  s->at = std::max(s->at, at);
  s->line = row.line;
  if (s->source != source) s->source = source;
  s->spoke = true;
  t.tick_at = t.tick_open ? std::max(t.tick_at, at) : at;
  t.tick_open = true;
  t.newest = std::max(t.newest.value_or(at), at);
  t.oldest = std::min(t.oldest.value_or(at), at);
}

void Triage::note(const TelemetryNote& note, std::string_view source,
                  std::string_view default_host) {
  for (NoteSeen& seen : state_->notes) {
    const bool same = seen.kind == note.kind && seen.source == source &&
                      seen.host == default_host && seen.pci == note.pci && seen.index == note.index;
    if (!same) continue;
    ++seen.count;
    return;
  }
  // Damaged lines by the thousand must not crowd out a lost GPU.
  const bool minor = note.kind == NoteKind::damaged_line || note.kind == NoteKind::schema ||
                     note.kind == NoteKind::truncated;
  if (state_->notes.size() >= (minor ? kNotesKept / 4 : kNotesKept)) return;
  NoteSeen seen{note.kind,
                std::string(note.text.substr(0, limits::kEvidenceChars)),
                std::string(source),
                std::string(default_host),
                std::string(note.pci),
                note.index,
                note.line,
                1};
  state_->notes.push_back(std::move(seen));
}

void Triage::set_progress_source(std::string_view source) {
  state_->step_source = source;
}
void Triage::step(const StepRecord& record) {
  state_->steps.step(record);
}
void Triage::event(const ProgressEvent& event) {
  state_->steps.event(event);
}
std::optional<WallTime> Triage::newest() const {
  return state_->newest;
}

void Triage::set_times_known(bool known) {
  state_->undated = !known;
}

std::vector<Finding> Triage::doubts() const {
  const Report end = report(state_->newest.value_or(WallTime{}));
  std::vector<Finding> out = state_->hangs;
  for (const Finding& f : end.findings) {
    const bool told = std::any_of(out.begin(), out.end(), [&f](const Finding& other) {
      return other.cause == f.cause && other.since == f.since;
    });
    const bool sure = f.severity == Severity::critical && f.confidence != Confidence::low;
    if (sure && !told && out.size() < limits::kFindingsNamed) out.push_back(f);
  }
  return out;
}

Report Triage::report(WallTime now) const {
  TriageState& t = *state_;
  if (t.tick_open) close_tick(t);
  Report report;
  report.verb = "triage";
  add_missing_findings(t, now, report);
  if (t.undated) {
    add_undated_wait(t, report);
  } else {
    add_wait_findings(t, report);
    add_silence_findings(t, report);
  }
  add_health_findings(t, report);
  if (t.undated) {
    for (Finding& f : report.findings) f.since.reset();
  }
  if (t.ticks > 0) report.notes.push_back(phase_shares(t));
  sort_findings(report.findings);
  return report;
}

}  // namespace muster
