#pragma once

#include "edge/gpu/nvml_abi.h"

namespace muster::nvml {

// The functions of a loaded NVML, looked up once: dlsym takes the loader's lock, and a thread that
// hangs in there would stop the others. Each is the newest spelling that the library has; null is
// none, and call() makes that kMissingSymbol (13). The library is never unloaded: a reader left
// behind may still return into it.
struct Api {
  template <typename T>
  using DeviceCall = Return (*)(Device, T*);

  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*count)(unsigned*) = nullptr;
  Return (*handle)(unsigned, Device*) = nullptr;
  Return (*uuid)(Device, char*, unsigned) = nullptr;
  Return (*name)(Device, char*, unsigned) = nullptr;
  DeviceCall<PciInfo> pci = nullptr;      // v3, with bus_id
  DeviceCall<PciInfo> pci_old = nullptr;  // v2 or older: `legacy` only; shorter, so ours has room
  Return (*fields)(Device, int, FieldValue*) = nullptr;
  DeviceCall<unsigned> power = nullptr, limit = nullptr, default_limit = nullptr;
  DeviceCall<unsigned> pstate = nullptr, pcie_gen = nullptr, pcie_gen_max = nullptr;
  DeviceCall<unsigned> pcie_width = nullptr, pcie_width_max = nullptr, pcie_replays = nullptr;
  DeviceCall<unsigned long long> energy = nullptr, reasons = nullptr, reasons_old = nullptr;
  DeviceCall<Utilization> utilization = nullptr;
  DeviceCall<MemoryV2> memory = nullptr;
  DeviceCall<MemoryV1> memory_old = nullptr;
  Return (*clock)(Device, unsigned, unsigned*) = nullptr;
  Return (*clock_max)(Device, unsigned, unsigned*) = nullptr;
  DeviceCall<TemperatureV1> temperature = nullptr;
  Return (*temperature_old)(Device, unsigned, unsigned*) = nullptr;
  Return (*mig)(Device, unsigned*, unsigned*) = nullptr;
  Return (*ecc)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
  Return (*rows)(Device, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
};

// `library` comes from dlopen.
Api load_api(void* library);

template <typename... Params, typename... Args>
Return call(Return (*function)(Params...), Args... args) {
  return function == nullptr ? kMissingSymbol : function(args...);
}

}  // namespace muster::nvml
