#include "core/telemetry/gpu_model.h"

#include "base/text.h"

namespace muster {
namespace {

// First match wins, so the longer name stands first.
constexpr GpuModel kTable[] = {
    {"GB300", "gb300", 1400, 0.14, 0.30, 0.70},
    {"GB200", "gb200", 1200, 0.15, 0.30, 0.70},
    {"B300", "b300", 1100, 0.14, 0.30, 0.70},
    {"B200", "b200", 1000, 0.21, 0.30, 0.70},  // idle alone is 19.6 % of the limit
    {"H200 NVL", "h200 nvl", 600, 0.14, 0.30, 0.70},
    {"H200", "h200", 700, 0.14, 0.30, 0.70},
    {"H100 PCIe", "h100 pcie", 350, 0.17, 0.42, 0.70},
    {"H100 NVL", "h100 nvl", 400, 0.17, 0.42, 0.70},
    {"H100", "h100", 700, 0.14, 0.30, 0.70},
    {"A100 PCIe", "a100-pcie", 250, 0.17, 0.42, 0.70},
    {"A100 80GB PCIe", "a100 80gb pcie", 300, 0.17, 0.42, 0.70},
    {"A100", "a100", 400, 0.15, 0.30, 0.70},
    {"L40S", "l40s", 350, 0.20, 0.42, 0.70},
    {"V100", "v100", 300, 0.12, 0.30, 0.70},
    {"T4", "tesla t4", 70, 0.50, 0.55, 0.75},
    {"RTX 4090", "rtx 4090", 450, 0.15, 0.42, 0.70},
};

}  // namespace

std::span<const GpuModel> gpu_model_table() {
  return kTable;
}

const GpuModel* find_gpu_model(std::string_view product_name) {
  for (const GpuModel& model : kTable) {
    if (contains_ignoring_case(product_name, model.match)) return &model;
  }
  return nullptr;
}

}  // namespace muster
