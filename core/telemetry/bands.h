#pragma once

#include <string>
#include <string_view>

#include "core/model/reading.h"
#include "core/telemetry/calibration.h"
#include "core/telemetry/fleet.h"

namespace muster {

// Where a power reading lies. `none`: no reading, or nothing to hold it against.
enum class PowerLevel : std::uint8_t { none, idle, floor, mid, high };

// The bands of one series in watts, and where they come from.
struct Bands {
  bool known = false;
  double idle_max_w = 0, wait_max_w = 0, compute_min_w = 0;
  // Kernels that only spin reach up to here, whatever the limit: under a hard cap that is as much
  // as work draws (152 W on an H100 capped to 200). 0: not known.
  double spin_max_w = 0;
  double full_w = 0;  // the limit, or the compute level: what a full power bar stands for
  std::string_view source = "no limit, no model, no calibration";
  // Set when the bands are only shares of the run's own highest level: such bands know "far below
  // compute", and nothing before both levels were seen.
  bool relative = false;

  PowerLevel level_of(Reading power_w) const;
};

// The best that is known, in this order: calibration of this model (at the nearest limit, scaled by
// the limits, but a lower limit does not lower idle and floor; where no limit is told, of the most
// samples); defaults of the model with the enforced limit, else with the model's own; generic
// fractions of the enforced limit; shares of `reference_w`, the highest level this run was seen at
// (0: none yet).
Bands bands_for(const SeriesIdentity& who, Reading limit_w, double reference_w,
                const Calibration& calibration);

}  // namespace muster
