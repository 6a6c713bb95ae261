#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/median_sketch.h"
#include "core/telemetry/series_state.h"
#include "core/telemetry/step_track.h"
#include "core/telemetry/triage.h"
#include "core/telemetry/wait_tracker.h"

// The inside of Triage, shared by its .cc files only: what is remembered, and the steps of judging.

namespace muster {

// A stretch of one phase, as it grows.
struct OpenSegment {
  PhaseSegment segment;
  MedianSketch power_w, util_percent;
  std::uint32_t ticks = 0;
  std::optional<SeriesId> odd;
  bool odd_steady = true;  // always the same one
};

struct NoteSeen {
  NoteKind kind;
  std::string text, source, host, pci;
  std::optional<int> index;
  std::uint64_t line = 0, count = 1;
};

// Power of all series of one model, for `calibrate`: 2-W bins up to 32 kW, at 0 % and at work.
struct PowerHistogram {
  static constexpr std::size_t kBins = 16384;
  static constexpr double kBinW = 2;
  std::vector<std::uint32_t> zero, work;
  std::optional<double> limit_w;

  void add(std::vector<std::uint32_t>& bins, double watts);
};

// The levels that relative bands stand on, per kind of series.
struct ReferenceLevel {
  double highest_w = 0, lowest_w = 0;  // medians over the series of one tick
};

struct TriageState {
  TriageOptions options;
  Fleet fleet;
  std::vector<SeriesState> series;  // by SeriesId
  WaitTracker waits;
  StepTrack steps;
  std::string step_source;
  std::vector<NoteSeen> notes;
  std::uint64_t series_refused = 0;

  std::optional<WallTime> newest, oldest;
  std::array<ReferenceLevel, 4> reference;  // by SeriesKind
  WallTime tick_at{};
  std::uint64_t ticks = 0;
  bool tick_open = false;
  TickVerdict tick;               // the newest judged tick
  std::vector<TickInput> inputs;  // of that tick; kept to avoid allocation
  std::deque<PhaseSegment> closed_segments;
  std::optional<OpenSegment> segment, candidate;
  std::array<std::uint64_t, kPhaseCount> phase_ticks{};
  std::deque<std::uint8_t> recent_levels;  // of the newest 30 ticks: 0 floor, 1 mid, 2 high
  std::map<std::string, PowerHistogram> histograms;  // by model

  // A GPU, node or task that takes part in the run. Out of it is one that never worked and rests
  // while others work, and a host that worked once and rests as a whole while others compute for
  // long. Any work brings it in (again).
  bool in_run(SeriesId id) const;
  bool fresh(SeriesId id) const;         // spoke within a few of its periods before tick_at
  std::string label(SeriesId id) const;  // "rank 3 (n1/3)", "n1/3"
  Culprit blame(SeriesId id) const;      // the rank where it is known, else the GPU
};

// Judges the tick that has just ended (core/telemetry/triage_tick.cc).
void close_tick(TriageState& s);
// The newest tick's phase under the hang rule, as people see it.
Phase phase_now(const TriageState& s);

// How long a wait may last before it is a hang, and what was known when that was decided.
struct WaitLimit {
  Duration limit{};
  std::optional<Duration> known;  // longest healthy wait known
  bool saving = false;            // the step log has an open save
};
WaitLimit wait_limit(const TriageState& s, const Wait& wait);
// Past its limit, and the step log does not say that steps go on.
bool is_hang(const TriageState& s, const Wait& wait);

// Findings (triage_wait.cc, triage_silence.cc, triage_health.cc, triage_missing.cc).
void add_wait_findings(const TriageState& s, Report& report);
void add_silence_findings(const TriageState& s, Report& report);
void add_health_findings(const TriageState& s, Report& report);
void add_missing_findings(const TriageState& s, WallTime now, Report& report);

// The throttle mask as bits; 0 where it is absent or no such number.
std::uint64_t throttle_bits(Reading mask);
Evidence evidence_of(const TriageState& s, SeriesId id, std::string text);

}  // namespace muster
