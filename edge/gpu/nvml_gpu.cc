#include "edge/gpu/nvml_gpu.h"

#include <array>
#include <cstring>

namespace muster::nvml {
namespace {

struct PlainCall {
  Metric metric;
  Api::DeviceCall<unsigned> Api::* function;
  double scale;
};

constexpr PlainCall kPlain[] = {
    {Metric::power_limit_w, &Api::limit, 1e-3},
    {Metric::power_default_limit_w, &Api::default_limit, 1e-3},
    {Metric::pstate, &Api::pstate, 1},
    {Metric::pcie_gen, &Api::pcie_gen, 1},
    {Metric::pcie_gen_max, &Api::pcie_gen_max, 1},
    {Metric::pcie_width, &Api::pcie_width, 1},
    {Metric::pcie_width_max, &Api::pcie_width_max, 1},
    {Metric::pcie_replays, &Api::pcie_replays, 1},
};

// A field's value; the code that the field or the whole call gave.
struct Field {
  Return code = kMissingSymbol;
  double value = 0;
};

Field decode(const FieldValue& raw) {
  // A driver that does not know the id says 2 or 3.
  if (raw.code != kOk) return {raw.code == kInvalid ? kNotSupported : raw.code};
  switch (raw.type) {
    case 0:
      return {kOk, raw.value.d};
    case 1:
      return {kOk, static_cast<double>(raw.value.u)};
    case 2:
    case 3:
      return {kOk, static_cast<double>(raw.value.ull)};
    case 4:
      return {kOk, static_cast<double>(raw.value.sll)};
    case 5:
      return {kOk, static_cast<double>(raw.value.i)};
    default:
      return {kUnknown};
  }
}

class Reader {
 public:
  Reader(const Api& api, Device device, GpuSample& out) : api_(api), device_(device), out_(out) {}

  void read_all() {
    read_mig();
    read_fields();
    read_power();
    for (const PlainCall& plain : kPlain) {
      unsigned value = 0;
      const Return code = call(api_.*plain.function, device_, &value);
      put(plain.metric, code, value * plain.scale);
    }
    read_activity();
    read_clocks();
    read_health();
  }

 private:
  void put(Metric metric, Return code, double value) {
    out_.lost = out_.lost || code == kLost;
    out_.mismatch = out_.mismatch || code == kMismatch;
    out_.readings.push_back(
        {metric, code == kOk ? Reading::of(value) : Reading::absent(absence_of(code))});
  }

  void read_mig() {
    unsigned mode = 0, pending = 0;
    const Return code = call(api_.mig, device_, &mode, &pending);
    mig_ = code == kOk && mode == 1;
    put(Metric::mig_mode, code, mode);
  }

  // One call for all: each costs a way into the kernel.
  void read_fields() {
    std::array<FieldValue, 3> raw{};
    raw[0].id = kFieldPowerAverage;
    raw[1].id = kFieldPowerInstant;
    raw[2].id = kFieldRecovery;
    const Return code = call(api_.fields, device_, static_cast<int>(raw.size()), raw.data());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      fields_[i] = code == kOk ? decode(raw[i]) : Field{code};
    }
  }

  void read_power() {
    Field average = fields_[0];
    if (average.code == kNotSupported || average.code == kMissingSymbol) {
      unsigned milliwatts = 0;
      average.code = call(api_.power, device_, &milliwatts);
      average.value = milliwatts;
    }
    put(Metric::power_w, average.code, average.value / 1e3);
    put(Metric::power_instant_w, fields_[1].code, fields_[1].value / 1e3);
    unsigned long long millijoules = 0;
    const Return code = call(api_.energy, device_, &millijoules);
    put(Metric::energy_j, code, static_cast<double>(millijoules) / 1e3);
  }

  void read_activity() {
    Utilization util{};
    const Return code = call(api_.utilization, device_, &util);
    put(Metric::util_gpu_percent, code, util.gpu);
    if (mig_ && code == kNotSupported) out_.readings.back().reading = Reading::absent(Absence::mig);
    put(Metric::util_mem_percent, code, util.memory);
    if (mig_ && code == kNotSupported) out_.readings.back().reading = Reading::absent(Absence::mig);
    MemoryV2 v2{};
    v2.version = kMemoryV2;
    Return memory = call(api_.memory, device_, &v2);
    if (memory == kMissingSymbol || memory == kStructVersion) {
      MemoryV1 v1{};
      memory = call(api_.memory_old, device_, &v1);
      v2.used = v1.used;
      v2.total = v1.total;
    }
    put(Metric::mem_used_bytes, memory, static_cast<double>(v2.used));
    put(Metric::mem_total_bytes, memory, static_cast<double>(v2.total));
  }

  void read_clocks() {
    unsigned sm = 0, max = 0, mem = 0;
    Return code = call(api_.clock, device_, kClockSm, &sm);
    put(Metric::sm_clock_mhz, code, sm);
    code = call(api_.clock_max, device_, kClockSm, &max);
    put(Metric::sm_clock_max_mhz, code, max);
    code = call(api_.clock, device_, kClockMemory, &mem);
    put(Metric::mem_clock_mhz, code, mem);
    unsigned long long mask = 0;
    code = call(api_.reasons, device_, &mask);
    if (code == kMissingSymbol) code = call(api_.reasons_old, device_, &mask);
    put(Metric::throttle_mask, code, static_cast<double>(mask));
    read_temperature();
  }

  void read_temperature() {
    TemperatureV1 now{.version = kTemperatureV1, .sensor = 0, .celsius = 0};
    Return code = call(api_.temperature, device_, &now);
    double celsius = now.celsius;
    if (code == kMissingSymbol || code == kStructVersion) {
      unsigned old = 0;
      code = call(api_.temperature_old, device_, 0U, &old);
      celsius = old;
    }
    put(Metric::temperature_c, code, celsius);
  }

  void read_health() {
    for (unsigned type : {0U, 1U}) {
      unsigned long long count = 0;
      const Return code = call(api_.ecc, device_, type, 0U, &count);
      put(type == 0 ? Metric::ecc_corrected : Metric::ecc_uncorrected, code,
          static_cast<double>(count));
    }
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    const Return code = call(api_.rows, device_, &corrected, &uncorrected, &pending, &failed);
    put(Metric::remapped_corrected, code, corrected);
    put(Metric::remapped_uncorrected, code, uncorrected);
    put(Metric::remap_pending, code, pending);
    put(Metric::remap_failed, code, failed);
    put(Metric::recovery_action, fields_[2].code, fields_[2].value);
  }

  const Api& api_;
  Device device_;
  GpuSample& out_;
  std::array<Field, 3> fields_{};  // average, instant, recovery
  bool mig_ = false;
};

void read_identity(const Api& api, Device device, GpuSample& out) {
  const auto text = [&](Return (*function)(Device, char*, unsigned)) {
    char word[97] = {};
    const Return code = call(function, device, word, 96U);
    out.lost = out.lost || code == kLost;
    return code == kOk ? std::string(word) : std::string();
  };
  out.uuid = text(api.uuid);
  out.name = text(api.name);
  PciInfo pci{};
  const Return code = call(api.pci, device, &pci);
  if (code == kOk) {
    out.pci.assign(pci.bus_id, strnlen(pci.bus_id, sizeof pci.bus_id));
  } else if (code == kMissingSymbol && call(api.pci_old, device, &pci) == kOk) {
    out.pci.assign(pci.legacy, strnlen(pci.legacy, sizeof pci.legacy));
  }
}

}  // namespace

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

GpuSample read_gpu(const Api& api, int index) {
  GpuSample out;
  out.index = index;
  Device device = nullptr;
  out.handle = call(api.handle, static_cast<unsigned>(index), &device);
  if (out.handle != kOk) {
    out.lost = out.handle == kLost || out.handle == kUnknown;
    out.mismatch = out.handle == kMismatch;
    out.readings = absent_readings(absence_of(out.handle));
    return out;
  }
  read_identity(api, device, out);
  Reader(api, device, out).read_all();
  return out;
}

std::vector<MetricReading> absent_readings(Absence why) {
  using enum Metric;
  std::vector<MetricReading> out;
  for (Metric m : {mig_mode,
                   power_w,
                   power_instant_w,
                   energy_j,
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
