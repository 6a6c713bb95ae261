#include "core/cost/node_model.h"

#include "core/model/gpu_peak.h"

namespace muster::cost {
namespace {

// NVLink of a GPU counts both directions on data sheets: 600, 900 and 1,800 GB/s are halved here.
constexpr NodeModel kTable[] = {
    {"B300", 275, 8, 900, 50, "275 GB as a field report of 16 saw them; NVLink 5; NDR, 400 Gb/s"},
    {"B200", 180, 8, 900, 50, "data sheet of HGX B200, 1.44 TB of eight; NVLink 5; NDR, 400 Gb/s"},
    {"H200", 141, 8, 450, 50, "data sheet of HGX H200; NVLink 4; NDR, 400 Gb/s"},
    {"H100", 80, 8, 450, 50, "data sheet of HGX H100; NVLink 4; NDR, 400 Gb/s"},
    {"A100", 80, 8, 300, 25, "data sheet of HGX A100 80GB; NVLink 3; HDR, 200 Gb/s"},
};

}  // namespace

std::span<const NodeModel> node_models() {
  return kTable;
}

const NodeModel* find_node_model(std::string_view gpu) {
  const GpuPeak* peak = find_gpu_peak(gpu);
  if (peak == nullptr) return nullptr;
  for (const NodeModel& node : kTable) {
    if (node.gpu == peak->name) return &node;
  }
  return nullptr;
}

}  // namespace muster::cost
