#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/finding.h"
#include "core/telemetry/triage.h"
#include "tests/support/power_recording.h"

namespace muster {

// What triage says all along a recording, looked at once a second, as `muster triage --follow`
// does.
struct PowerReplay {
  struct Options {
    Calibration calibration;
    bool with_log = true;
    bool count_phases = false;
    bool learn = false;
  };
  std::uint64_t samples = 0, unknown_samples = 0;  // looked-at nodes, and those without a phase
  std::optional<WallTime> first_alarm;             // the first look at a finding above info
  std::string alarm;                               // that finding, in short
  std::optional<Finding> newest_alarm;             // of the last look
  std::optional<WallTime> first_silence;  // the first look at which the log is called silent
  Calibration learned;  // where asked for; without bands: the reason is its source

  double unknown_percent() const {
    return samples == 0
               ? 100
               : 100.0 * static_cast<double>(unknown_samples) / static_cast<double>(samples);
  }
};
PowerReplay replay(const PowerRecording& recording, PowerReplay::Options options);

// After how long a stay at the floor that begins at `at`, and a log that falls silent before it,
// are to be called so, by the documented rules.
struct PowerLimits {
  Duration wait{}, silence{};
};
PowerLimits limits_at(const PowerRecording& recording, WallTime at, const Calibration& calibration);

}  // namespace muster
