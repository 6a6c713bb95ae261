#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// What a known-good run of this job on these machines looks like. Learned by Triage::calibrate,
// kept as a small TOML file (schema "muster.calibration/1", docs/FORMATS.md), read by edge/config.
// Calibrate per job shape, not per cluster: more nodes draw less each with the same code.

namespace muster {

// Power bands of one kind of series, in watts at the limit `limit_w` (scaled where the enforced
// limit is another one later).
struct CalibratedBands {
  std::string model;              // product name of the GPU, or "node" for whole-node power
  std::optional<double> limit_w;  // enforced limit while learning
  double idle_max_w = 0;          // at or below: nothing runs (0 where no idle was seen)
  double wait_max_w = 0;          // at or below: the floor
  double compute_min_w = 0;       // at or above: computing
  double compute_w = 0;           // median while computing
  double spread_ratio = 0;        // (highest - lowest mean of the series) / median, while computing
  std::uint64_t samples = 0;

  bool operator==(const CalibratedBands&) const = default;
};

struct Calibration {
  std::string source;  // where it was learned: a file name; empty: no calibration
  std::vector<CalibratedBands> bands;
  std::optional<Duration> longest_wait;   // longest stay at the floor that ended by itself
  std::optional<Duration> longest_quiet;  // longest time that the step log told nothing
  std::optional<double> step_s;           // median step time
  std::optional<double> period_s;         // sampling period
  std::optional<std::int64_t> series;     // GPUs (or nodes) that were seen

  bool empty() const { return bands.empty(); }
  bool operator==(const Calibration&) const = default;
};

// TOML text, keys in a fixed order, so that two files can be compared line by line.
std::string encode_calibration(const Calibration& calibration);

// One calibration that covers both runs: the wider bands, the longer wait.
Calibration merge_calibrations(const Calibration& a, const Calibration& b);

// What changed from `before` to `after`, one short line each; empty where nothing differs by more
// than 2 %.
std::vector<std::string> compare_calibrations(const Calibration& before, const Calibration& after);

}  // namespace muster
