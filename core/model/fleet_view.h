#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/model/reading.h"

// What the GPUs of a run do, as values for screens and text: `muster triage` prints the segments,
// `muster top` draws the rest. core/telemetry/ fills it, core/render/ draws it.

namespace muster {

// What power and utilization say a run (or one GPU) is doing. Names as in docs/DESIGN.md.
enum class Phase : std::uint8_t {
  unknown,          // not enough to tell
  idle,             // nothing on the GPUs
  context_idle,     // a process holds the GPUs, no kernel runs
  checkpoint_wait,  // the power floor in the shape of a save: rank 0 alone at 0 %
  waiting,          // the power floor in another shape, not for longer than a wait may take
  hang_suspected,   // the power floor for longer than any wait of a healthy run
  starved,          // busy and not: waits for data, or stop-and-go
  communication,    // uniformly busy at the power of communication
  compute,
};
inline constexpr int kPhaseCount = 9;

constexpr std::string_view phase_name(Phase p) {
  constexpr std::string_view kNames[] = {"unknown",         "idle",          "context idle",
                                         "checkpoint wait", "waiting",       "hang suspected",
                                         "starved",         "communication", "compute"};
  return kNames[static_cast<int>(p)];
}

// Who is low and who is not, over the GPUs of the run at one moment.
enum class Shape : std::uint8_t {
  none,          // nothing to compare
  uniform,       // all alike
  rank0_zero,    // rank 0 alone at 0 %: a save
  one_zero,      // one other rank at 0 %, the rest busy
  several_zero,  // some at 0 %, some busy
  all_spinning,  // all busy at the power floor, nobody at 0 %
  one_busy,      // one rank works, the others spin and wait for it
  one_low,       // one GPU draws far less than its peers under the same load
  scatter,       // utilization differs from rank to rank
};

constexpr std::string_view shape_name(Shape s) {
  constexpr std::string_view kNames[] = {"",
                                         "all alike",
                                         "rank 0 alone at 0 %",
                                         "one rank at 0 %",
                                         "some ranks at 0 %",
                                         "all spinning",
                                         "one rank busy, the rest wait",
                                         "one GPU low",
                                         "uneven utilization"};
  return kNames[static_cast<int>(s)];
}

struct GpuView {
  std::string host;
  std::string label;  // "3", or the PCI address, task or node name
  std::optional<int> rank;
  std::string model;  // "B300", empty if unknown
  Reading power_w, power_limit_w, util_percent, sm_clock_mhz, temperature_c, mem_used_bytes,
      mem_total_bytes;
  // Share of the limit or, without a limit, of the run's own compute level: for bars, 0 to about 1.
  Reading power_ratio;
  Phase phase = Phase::unknown;
  bool odd = false;    // the one that stands out in `FleetView::shape`
  Duration age{};      // of the newest value
  bool stale = false;  // too old to be judged
};

struct PhaseSegment {
  Phase phase = Phase::unknown;
  Shape shape = Shape::none;
  WallTime from{}, to{};
  Reading power_w_median, util_percent_median;  // over GPUs and ticks
  std::string odd;                              // "n1/3" where one stands out
};

struct FleetView {
  WallTime at{};         // of the newest value
  bool undated = false;  // the rows carry no time: `at` only orders them, and no segments are told
  Duration behind{};     // the clock of a live look less `at`; zero for files that are read once
  Phase phase = Phase::unknown;
  Shape shape = Shape::none;
  Duration phase_for{};
  std::vector<GpuView> gpus;           // by host, then index
  std::vector<PhaseSegment> segments;  // oldest first, the newest 64
  std::string bands_source;            // "defaults for B300", "calibration run-a.toml", ...
  std::optional<std::int64_t> step, target_step;
};

}  // namespace muster
