#pragma once

// The part of NVML's C ABI that is read here, declared by us because no free package ships the
// header. Values are fixed by the ABI; names are ours.

namespace muster::nvml {

using Device = void*;
using Return = int;

inline constexpr Return kOk = 0, kInvalid = 2, kNotSupported = 3, kNoPermission = 4,
                        kDriverNotLoaded = 9, kMissingSymbol = 13, kLost = 15, kResetRequired = 16,
                        kMismatch = 18, kStructVersion = 25, kUnknown = 999;

inline constexpr unsigned kFieldPowerAverage = 185, kFieldPowerInstant = 186, kFieldRecovery = 230;
inline constexpr unsigned kClockSm = 1, kClockMemory = 2;

struct Utilization {
  unsigned gpu, memory;
};
struct MemoryV1 {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
inline constexpr unsigned kMemoryV2 = static_cast<unsigned>(sizeof(MemoryV2)) | (2U << 24U);
struct TemperatureV1 {
  unsigned version, sensor;
  int celsius;
};
inline constexpr unsigned kTemperatureV1 =
    static_cast<unsigned>(sizeof(TemperatureV1)) | (1U << 24U);
struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct FieldValue {
  unsigned id, scope;
  long long timestamp_us, latency_us;
  int type;  // 0 double, 1 unsigned, 2 and 3 64-bit unsigned, 4 64-bit signed, 5 signed
  Return code;
  union {
    double d;
    unsigned u;
    unsigned long long ull;
    long long sll;
    int i;
  } value;
};
static_assert(sizeof(MemoryV2) == 40 && sizeof(TemperatureV1) == 12 && sizeof(PciInfo) == 68 &&
              sizeof(FieldValue) == 40);

}  // namespace muster::nvml
