#include "edge/gpu/nvml_api.h"

#include <dlfcn.h>

#include <initializer_list>

namespace muster::nvml {
namespace {

// The first of `names` that the library has.
template <typename Function, typename... Names>
void load(void* library, Function& out, Names... names) {
  for (const char* name : {names...}) {
    out = reinterpret_cast<Function>(dlsym(library, name));
    if (out != nullptr) return;
  }
}

}  // namespace

Api load_api(void* library) {
  Api a;
  const auto get = [library](auto& out, auto... names) { load(library, out, names...); };
  get(a.init, "nvmlInit_v2", "nvmlInit");
  get(a.shutdown, "nvmlShutdown");
  get(a.count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
  get(a.handle, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
  get(a.uuid, "nvmlDeviceGetUUID");
  get(a.name, "nvmlDeviceGetName");
  get(a.pci, "nvmlDeviceGetPciInfo_v3");
  get(a.pci_old, "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo");
  get(a.fields, "nvmlDeviceGetFieldValues");
  get(a.power, "nvmlDeviceGetPowerUsage");
  get(a.limit, "nvmlDeviceGetEnforcedPowerLimit");
  get(a.default_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
  get(a.pstate, "nvmlDeviceGetPerformanceState");
  get(a.pcie_gen, "nvmlDeviceGetCurrPcieLinkGeneration");
  get(a.pcie_gen_max, "nvmlDeviceGetMaxPcieLinkGeneration");
  get(a.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  get(a.pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth");
  get(a.pcie_replays, "nvmlDeviceGetPcieReplayCounter");
  get(a.energy, "nvmlDeviceGetTotalEnergyConsumption");
  get(a.reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  get(a.reasons_old, "nvmlDeviceGetCurrentClocksThrottleReasons");
  get(a.utilization, "nvmlDeviceGetUtilizationRates");
  get(a.memory, "nvmlDeviceGetMemoryInfo_v2");
  get(a.memory_old, "nvmlDeviceGetMemoryInfo");
  get(a.clock, "nvmlDeviceGetClockInfo");
  get(a.clock_max, "nvmlDeviceGetMaxClockInfo");
  get(a.temperature, "nvmlDeviceGetTemperatureV");
  get(a.temperature_old, "nvmlDeviceGetTemperature");
  get(a.mig, "nvmlDeviceGetMigMode");
  get(a.ecc, "nvmlDeviceGetTotalEccErrors");
  get(a.rows, "nvmlDeviceGetRemappedRows");
  return a;
}

}  // namespace muster::nvml
