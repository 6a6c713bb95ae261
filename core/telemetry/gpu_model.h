#pragma once

#include <span>
#include <string_view>

namespace muster {

// Where the power bands of a GPU model start, as fractions of the enforced limit. Defaults only:
// the same phase sits at another power on another model, firmware and job, so `muster calibrate`
// replaces them. Sources: a field report for B300; measured traces for H100; idle and limit from
// nvidia-smi documents of A100, H100, B200, GB200, GB300, L40S and T4; issue threads for V100.
struct GpuModel {
  std::string_view name;   // "B300"
  std::string_view match;  // part of the product name that nvidia-smi prints, lower case
  double limit_w;          // default limit, used where the source does not tell the enforced one
  double idle_max;         // no process on the GPU at or below
  double wait_max;         // spinning in a collective, saving, hanging: at or below
  double compute_min;      // computing: at or above; between is communication or starvation
};

std::span<const GpuModel> gpu_model_table();

// By product name ("NVIDIA B300 SXM6 AC"); nothing for a model that is not in the table.
const GpuModel* find_gpu_model(std::string_view product_name);

}  // namespace muster
