#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/gpu_peak.h"
#include "core/shape/curve.h"

// Model FLOPs utilization: 6 FLOP for each parameter and token (forward 2, backward 4; Kaplan et
// al. 2020, without attention, which adds 5 to 15 % at usual lengths), over what the GPUs could do.

namespace muster::shape {

// "32e9", "32b", "0.6B", "350M".
Result<double> parse_parameters(std::string_view text);

struct ModelSize {
  double parameters = 0;
  const GpuPeak* gpu = nullptr;
  double gpus = 1;  // that share the printed rate; 1 where it is printed for each GPU
};

// Fills in mfu_ratio where a point tells tokens per second and no MFU of its own; at most 1. What
// was computed, for people: "MFU 41 % (median; 6 x 32 G parameters x ...)". Empty where nothing
// was.
std::string add_mfu(const ModelSize& size, Curve& curve);

}  // namespace muster::shape
