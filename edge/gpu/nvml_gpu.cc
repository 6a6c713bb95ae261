#include "edge/gpu/nvml_gpu.h"

#include <dlfcn.h>

#include <cstring>

namespace muster::nvml {
namespace {

struct PlainCall {
  Metric metric;
  const char* name;
  double scale;
};

// Calls of the form f(device, unsigned*).
constexpr PlainCall kPlain[] = {
    {Metric::power_limit_w, "nvmlDeviceGetEnforcedPowerLimit", 1e-3},
    {Metric::power_default_limit_w, "nvmlDeviceGetPowerManagementDefaultLimit", 1e-3},
    {Metric::pstate, "nvmlDeviceGetPerformanceState", 1},
    {Metric::pcie_gen, "nvmlDeviceGetCurrPcieLinkGeneration", 1},
    {Metric::pcie_gen_max, "nvmlDeviceGetMaxPcieLinkGeneration", 1},
    {Metric::pcie_width, "nvmlDeviceGetCurrPcieLinkWidth", 1},
    {Metric::pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth", 1},
    {Metric::pcie_replays, "nvmlDeviceGetPcieReplayCounter", 1},
};

class Reader {
 public:
  Reader(const Library& library, Device device, GpuSample& out)
      : library_(library), device_(device), out_(out) {}

  void read_all() {
    read_mig();
    read_power();
    for (const PlainCall& call : kPlain) {
      unsigned value = 0;
      const Return code = library_.call(call.name, device_, &value);
      put(call.metric, code, value * call.scale);
    }
    read_activity();
    read_clocks();
    read_health();
  }

 private:
  void put(Metric metric, Return code, double value) {
    if (code == kLost || code == kResetRequired || code == kMismatch || code == kUnknown) {
      if (out_.code == kOk || out_.code == kUnknown) out_.code = code;
    }
    out_.readings.push_back(
        {metric, code == kOk ? Reading::of(value) : Reading::absent(absence_of(code))});
  }

  void read_mig() {
    unsigned mode = 0, pending = 0;
    const Return code = library_.call("nvmlDeviceGetMigMode", device_, &mode, &pending);
    mig_ = code == kOk && mode == 1;
    put(Metric::mig_mode, code, mode);
  }

  Return field(unsigned id, double& value) {
    FieldValue field{};
    field.id = id;
    const Return code = library_.call("nvmlDeviceGetFieldValues", device_, 1, &field);
    if (code != kOk) return code;
    if (field.code != kOk) return field.code;
    switch (field.type) {
      case 0:
        value = field.value.d;
        return kOk;
      case 1:
        value = field.value.u;
        return kOk;
      case 2:
      case 3:
        value = static_cast<double>(field.value.ull);
        return kOk;
      case 4:
        value = static_cast<double>(field.value.sll);
        return kOk;
      case 5:
        value = field.value.i;
        return kOk;
      default:
        return kUnknown;
    }
  }

  void read_power() {
    double average = 0, instant = 0;
    Return code = field(kFieldPowerAverage, average);
    if (code == kNotSupported || code == kMissingSymbol) {
      unsigned milliwatts = 0;
      code = library_.call("nvmlDeviceGetPowerUsage", device_, &milliwatts);
      average = milliwatts;
    }
    put(Metric::power_w, code, average / 1e3);
    code = field(kFieldPowerInstant, instant);
    put(Metric::power_instant_w, code, instant / 1e3);
    unsigned long long millijoules = 0;
    code = library_.call("nvmlDeviceGetTotalEnergyConsumption", device_, &millijoules);
    put(Metric::energy_j, code, static_cast<double>(millijoules) / 1e3);
    double smoothing = 0;
    code = field(kFieldSmoothing, smoothing);
    put(Metric::power_smoothing, code, smoothing);
  }

  void read_activity() {
    Utilization util{};
    const Return code = library_.call("nvmlDeviceGetUtilizationRates", device_, &util);
    put(Metric::util_gpu_percent, code, util.gpu);
    if (mig_ && code == kNotSupported) out_.readings.back().reading = Reading::absent(Absence::mig);
    put(Metric::util_mem_percent, code, util.memory);
    if (mig_ && code == kNotSupported) out_.readings.back().reading = Reading::absent(Absence::mig);
    MemoryV2 v2{};
    v2.version = kMemoryV2;
    Return memory = library_.call("nvmlDeviceGetMemoryInfo_v2", device_, &v2);
    if (memory == kMissingSymbol || memory == kStructVersion) {
      MemoryV1 v1{};
      memory = library_.call("nvmlDeviceGetMemoryInfo", device_, &v1);
      v2.used = v1.used;
      v2.total = v1.total;
    }
    put(Metric::mem_used_bytes, memory, static_cast<double>(v2.used));
    put(Metric::mem_total_bytes, memory, static_cast<double>(v2.total));
  }

  void read_clocks() {
    unsigned sm = 0, max = 0, mem = 0, celsius = 0;
    Return code = library_.call("nvmlDeviceGetClockInfo", device_, kClockSm, &sm);
    put(Metric::sm_clock_mhz, code, sm);
    code = library_.call("nvmlDeviceGetMaxClockInfo", device_, kClockSm, &max);
    put(Metric::sm_clock_max_mhz, code, max);
    code = library_.call("nvmlDeviceGetClockInfo", device_, kClockMemory, &mem);
    put(Metric::mem_clock_mhz, code, mem);
    unsigned long long mask = 0;
    code = library_.call("nvmlDeviceGetCurrentClocksEventReasons", device_, &mask);
    if (code == kMissingSymbol) {
      code = library_.call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &mask);
    }
    put(Metric::throttle_mask, code, static_cast<double>(mask));
    code = library_.call("nvmlDeviceGetTemperature", device_, 0U, &celsius);
    put(Metric::temperature_c, code, celsius);
  }

  void read_health() {
    for (unsigned type : {0U, 1U}) {
      unsigned long long count = 0;
      const Return code = library_.call("nvmlDeviceGetTotalEccErrors", device_, type, 0U, &count);
      put(type == 0 ? Metric::ecc_corrected : Metric::ecc_uncorrected, code,
          static_cast<double>(count));
    }
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    Return code = library_.call("nvmlDeviceGetRemappedRows", device_, &corrected, &uncorrected,
                                &pending, &failed);
    put(Metric::remapped_corrected, code, corrected);
    put(Metric::remapped_uncorrected, code, uncorrected);
    put(Metric::remap_pending, code, pending);
    put(Metric::remap_failed, code, failed);
    double action = 0;
    code = field(kFieldRecovery, action);
    put(Metric::recovery_action, code, action);
  }

  const Library& library_;
  Device device_;
  GpuSample& out_;
  bool mig_ = false;
};

template <typename Call>
std::string read_text(Call call) {
  char text[97] = {};
  if (call(text, 96U) != kOk) return {};
  return text;
}

}  // namespace

void* Library::find(const char* name) const {
  return dlsym(handle_, name);
}

Absence absence_of(Return code) {
  switch (code) {
    case kNotSupported:
    case kMissingSymbol:
    case kStructVersion:
      return Absence::unsupported;
    case kNoPermission:
      return Absence::permission;
    case kLost:
      return Absence::lost;
    case kResetRequired:
      return Absence::needs_reset;
    default:
      return Absence::read_error;
  }
}

GpuSample read_gpu(const Library& library, int index) {
  GpuSample out;
  out.index = index;
  Device device = nullptr;
  const auto position = static_cast<unsigned>(index);
  Return code = library.call("nvmlDeviceGetHandleByIndex_v2", position, &device);
  if (code == kMissingSymbol) code = library.call("nvmlDeviceGetHandleByIndex", position, &device);
  if (code != kOk) {
    out.code = code;
    out.readings = absent_readings(absence_of(code));
    return out;
  }
  out.uuid = read_text(
      [&](char* t, unsigned n) { return library.call("nvmlDeviceGetUUID", device, t, n); });
  out.name = read_text(
      [&](char* t, unsigned n) { return library.call("nvmlDeviceGetName", device, t, n); });
  PciInfo pci{};
  if (library.call("nvmlDeviceGetPciInfo_v3", device, &pci) == kOk) {
    out.pci.assign(pci.bus_id, strnlen(pci.bus_id, sizeof pci.bus_id));
  }
  Reader(library, device, out).read_all();
  return out;
}

std::vector<MetricReading> absent_readings(Absence why) {
  using enum Metric;
  std::vector<MetricReading> out;
  for (Metric m : {mig_mode,
                   power_w,
                   power_instant_w,
                   energy_j,
                   power_smoothing,
                   power_limit_w,
                   power_default_limit_w,
                   pstate,
                   pcie_gen,
                   pcie_gen_max,
                   pcie_width,
                   pcie_width_max,
                   pcie_replays,
                   util_gpu_percent,
                   util_mem_percent,
                   mem_used_bytes,
                   mem_total_bytes,
                   sm_clock_mhz,
                   sm_clock_max_mhz,
                   mem_clock_mhz,
                   throttle_mask,
                   temperature_c,
                   ecc_corrected,
                   ecc_uncorrected,
                   remapped_corrected,
                   remapped_uncorrected,
                   remap_pending,
                   remap_failed,
                   recovery_action}) {
    out.push_back({m, Reading::absent(why)});
  }
  return out;
}

}  // namespace muster::nvml
