#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/finding.h"
#include "core/telemetry/triage.h"
#include "tests/support/power_recording.h"

namespace muster {

// What triage says all along a recording, looked at once a second, as
// `muster triage --follow` does.
struct PowerReplay {
  std::uint64_t looks = 0, samples = 0;
  std::uint64_t unknown_samples = 0;      // of nodes that were given no phase
  std::optional<WallTime> first_alarm;    // the first look at a finding above info
  std::string alarm;                      // that finding, in short
  std::optional<Finding> newest_alarm;    // of the last look
  std::optional<WallTime> first_silence;  // the first look at which the log is called silent
  Report last;

  double unknown_percent() const {
    return samples == 0
               ? 100
               : 100.0 * static_cast<double>(unknown_samples) / static_cast<double>(samples);
  }
};
PowerReplay replay(const PowerRecording& recording, const Calibration& calibration, bool with_log);

// Learned from the recording with its log; a failure has the reason as `source` and no bands.
// `bands`: the calibration that the ticks are judged with, empty for none.
Calibration learn_from(const PowerRecording& recording, const Calibration& bands = {});

// When a stay at the floor that begins at `at` is to be called a hang, by the documented rule.
Duration hang_limit(const PowerRecording& recording, WallTime at, const Calibration& calibration);

// When a log that fell silent before `at` is to be called so, after its last line.
Duration silence_limit(const PowerRecording& recording, WallTime at,
                       const Calibration& calibration);

}  // namespace muster
