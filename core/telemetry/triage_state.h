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
  bool undated = false;           // Triage::set_times_known
  TickVerdict tick;               // the newest judged tick
  std::vector<TickInput> inputs;  // of that tick; kept to avoid allocation
  std::deque<PhaseSegment> closed_segments;
  std::optional<OpenSegment> segment, candidate;
  std::array<std::uint64_t, kPhaseCount> phase_ticks{};
  MedianSketch work_w, wait_w;  // medians of ticks: all that were busy; those of the open wait
  std::deque<std::uint8_t> recent_levels;  // of the newest 30 ticks: 0 floor, 1 mid, 2 high
  std::map<std::string, PowerHistogram> histograms;  // by model
  std::vector<Finding> hangs;                        // of Triage::doubts()

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

// What the step log says about a wait (core/telemetry/triage_log.cc).
//
// A log whose newest time lies beyond the telemetry, or that had been silent for long while the
// GPUs worked before the wait, has the clock of another zone (or speaks of another time): what it
// tells is used, when it tells it is not.
enum class LogClock : std::uint8_t { fits, ahead, behind };
LogClock log_clock(const TriageState& s, const Wait& w);
// The newest step, wherever its time lies; for evidence.
std::optional<WallTime> newest_step_at(const TriageState& s);
// A step well inside the wait: it is no hang, whatever power says.
bool steps_went_on(const TriageState& s, const Wait& w);
// Nothing moved in the log for longer than steps and silences take.
bool steps_frozen(const TriageState& s, const Wait& w);
// The run starts (again): such lines are newer than its steps, by no more than a start may take.
bool is_starting(const TriageState& s, const Wait& w);
// Nothing ran anywhere before the wait, and the log does not tell that it went on: a run that
// starts again loads like that.
bool may_start_again(const TriageState& s, const Wait& w);
// The log says that the run is complete, and what is left of it has not lasted far too long.
bool is_over(const TriageState& s, const Wait& w);
// One rank is apart as in a save, and a log is there that shows no open save.
bool shows_no_save(const TriageState& s, const Wait& w);
// It has told saves before, so that one that it does not tell is none.
bool tells_saves(const TriageState& s);
// How long nothing has moved: from the last step, or the restart, inside the wait.
Duration still_for(const TriageState& s, const Wait& w);
// What is wrong with the clock of the log; empty where it fits.
std::string log_clock_note(const TriageState& s, const Wait& w);

// Without any known save, rank 0 alone at 0 % may write for this long (62 GB at 100 MB/s).
inline constexpr Duration kUnknownSave = std::chrono::minutes(10);
// From here on a save that nobody told is a hint: three times the waits of most checkpoints (10 to
// 78 s, chained ones included, on H100).
inline constexpr Duration kLongSave = std::chrono::minutes(5);
// Before the first step: compilation and index building take 17 to 30 min in public reports. A last
// save, the upload of a model and the leaving of ranks get as long.
inline constexpr Duration kStartUp = std::chrono::minutes(30);

// Between two ticks that are further apart, work (or rest) may have been missed.
inline constexpr Duration kSparseGap = std::chrono::seconds(60);

// How long a wait may last before it is a hang, and what was known when that was decided.
struct WaitLimit {
  Duration limit{};
  std::optional<Duration> known;  // longest healthy wait known
  bool saving = false;            // the step log has an open save
};
WaitLimit wait_limit(const TriageState& s, const Wait& wait);
// Past its limit, and the step log does not say that steps go on.
bool is_hang(const TriageState& s, const Wait& wait);
// Keeps the open wait for Triage::doubts() where it is a hang.
void remember_hang(TriageState& s);

// Findings (triage_wait.cc, triage_silence.cc, triage_health.cc, triage_missing.cc).
void add_wait_findings(const TriageState& s, Report& report);
void add_undated_wait(const TriageState& s, Report& report);  // instead, where times are unknown
void add_silence_findings(const TriageState& s, Report& report);
void add_health_findings(const TriageState& s, Report& report);
void add_missing_findings(const TriageState& s, WallTime now, Report& report);

// The throttle mask as bits; 0 where it is absent or no such number.
std::uint64_t throttle_bits(Reading mask);
Evidence evidence_of(const TriageState& s, SeriesId id, std::string text);

}  // namespace muster
