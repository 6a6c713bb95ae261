#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/telemetry/calibration.h"

namespace muster {

// Whole-node power of one training run with its log beside it, in memory: read from files, or
// simulated (tests/support/simulated_nodes.h). Samples and lines are in the order of time.
struct PowerRecording {
  struct Sample {
    WallTime at{};
    std::string node;
    double watts = 0;
  };
  struct LogLine {
    WallTime at{};
    std::string text;  // a row of the MLPerf form: "1715975900436,eval_start,4194304,"
  };
  std::string name;
  std::vector<Sample> samples;
  std::vector<LogLine> log;

  // Median distance of the samples of one node.
  Duration period() const;
  // The same as files: columns time_ms,node,power_w, and the log with its heading.
  std::string power_csv() const;
  std::string log_csv() const;
};

// Every pair STEM_node_ac_power_long.csv[.gz] and STEM_events.csv of a folder, by name. A file that
// cannot be read gives a recording without samples.
std::vector<PowerRecording> read_recordings(const std::string& folder);

// The samples and log lines of [from, to).
PowerRecording cut(const PowerRecording& whole, WallTime from, WallTime to);
// The middle between its first and its last sample.
WallTime middle(const PowerRecording& recording);

// A stay at the floor of a calibration: nine of ten nodes (of four to nine: all but one) for at
// least four samples in a row.
struct WaitSegment {
  WallTime from{}, to{};
  // All samples in it by node, but for the first and last period: those are ramps.
  std::map<std::string, std::vector<double>> watts;
};
std::vector<WaitSegment> wait_segments(const PowerRecording& recording, const Calibration& bands);

// SYNTHETIC: `recording` up to `at`; from there on every node draws, for `length` and with the
// period of the recording, one of its own samples of `wait` at random (of any node's where it has
// none there), and `lift_w` more. Log lines after `at` are gone.
PowerRecording hold(const PowerRecording& recording, WallTime at, const WaitSegment& wait,
                    double lift_w, Duration length, std::uint64_t seed);

}  // namespace muster
