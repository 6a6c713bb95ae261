#pragma once

#include <string>

#include "base/result.h"
#include "core/telemetry/calibration.h"
#include "edge/os/files.h"

namespace muster {

// Reads a calibration that encode_calibration() wrote ("muster.calibration/1"). Keys that are not
// known are passed over (a newer writer); a missing or senseless number is an error with line and
// column: a wrong band makes a wrong verdict.
Result<Calibration> read_calibration(Files& files, const std::string& path);

// The same from text; `name` stands in errors.
Result<Calibration> parse_calibration(const std::string& text, const std::string& name);

}  // namespace muster
