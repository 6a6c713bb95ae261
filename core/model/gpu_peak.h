#pragma once

#include <span>
#include <string_view>

namespace muster {

// Dense BF16 peak of the tensor cores, by the vendor's data sheets (FP16 for V100 and T4, which
// have no BF16). Figures with sparsity are twice that and are not meant.
struct GpuPeak {
  std::string_view name;   // "H100"
  std::string_view match;  // part of a product name, lower case
  double tflops = 0;
};
std::span<const GpuPeak> gpu_peak_table();
// "H100", "NVIDIA H100 80GB HBM3"; nothing for a model that is not in the table.
const GpuPeak* find_gpu_peak(std::string_view name);

}  // namespace muster
