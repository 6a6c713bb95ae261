#include "core/model/gpu_peak.h"

#include "base/text.h"

namespace muster {
namespace {

// First match wins, so the longer name stands first.
constexpr GpuPeak kTable[] = {
    {"GB300", "gb300", 2500},      {"GB200", "gb200", 2500}, {"B300", "b300", 2250},
    {"B200", "b200", 2250},        {"H200", "h200", 989},    {"H100 PCIe", "h100 pcie", 756},
    {"H100 NVL", "h100 nvl", 835}, {"H100", "h100", 989},    {"H20", "h20", 148},
    {"A100", "a100", 312},         {"L40S", "l40s", 362},    {"V100", "v100", 125},
    {"RTX 4090", "4090", 165},     {"T4", "t4", 65},
};

}  // namespace

std::span<const GpuPeak> gpu_peak_table() {
  return kTable;
}

const GpuPeak* find_gpu_peak(std::string_view name) {
  for (const GpuPeak& peak : kTable) {
    if (contains_ignoring_case(name, peak.match)) return &peak;
  }
  return nullptr;
}

}  // namespace muster
