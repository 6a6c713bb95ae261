#pragma once

#include <string>
#include <vector>

#include "core/model/telemetry_row.h"
#include "edge/gpu/nvml_abi.h"

namespace muster::nvml {

// The loaded library. Never unloaded: a reader left behind may still return into it.
class Library {
 public:
  explicit Library(void* handle) : handle_(handle) {}
  // Calls `name` if the library has it; kMissingSymbol (13) if not.
  template <typename... Args>
  Return call(const char* name, Args... args) const {
    void* symbol = find(name);
    if (symbol == nullptr) return kMissingSymbol;
    return reinterpret_cast<Return (*)(Args...)>(symbol)(args...);
  }

 private:
  void* find(const char* name) const;
  void* handle_;
};

struct GpuSample {
  int index = 0;
  Return code = kOk;  // worst answer: lost, reset, mismatch, unknown
  std::string uuid, pci, name;
  std::vector<MetricReading> readings;
};

// All that one GPU says. Blocks as long as the driver does.
GpuSample read_gpu(const Library& library, int index);
// The same metrics, all absent.
std::vector<MetricReading> absent_readings(Absence why);
Absence absence_of(Return code);

}  // namespace muster::nvml
