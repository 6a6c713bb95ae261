// A stand-in for libnvidia-ml.so.1 with the C ABI of the real one; README.md has the scenario.

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "edge/gpu/nvml_abi.h"

using namespace muster::nvml;

namespace {

using Words = std::map<std::string, std::string>;

struct Scenario {
  int init = 0;
  bool newer = false;  // driver new
  std::vector<Words> gpus;
};

// What tells one version of the file from another. Two of one size within a clock tick of the file
// system differ in the inode, since a new one is renamed over the old.
struct Stamp {
  ino_t inode = 0;
  off_t size = -1;
  timespec changed{};
  bool operator==(const Stamp& o) const {
    return inode == o.inode && size == o.size && changed.tv_sec == o.changed.tv_sec &&
           changed.tv_nsec == o.changed.tv_nsec;
  }
};

// Never destroyed: a reader left behind may still be in here when the process exits.
std::mutex& mutex = *new std::mutex;
Scenario& scenario = *new Scenario;
Stamp seen;
std::chrono::steady_clock::time_point looked{};
int tick = -1;
int handles[64];

// Reads the file again if it changed; looks for that once a millisecond at most, unless `now`. The
// caller holds the mutex.
void refresh(bool now) {
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - looked < std::chrono::milliseconds(1)) return;
  looked = time;
  const char* path = std::getenv("MUSTER_FAKE_NVML");
  struct stat info{};
  if (path == nullptr || stat(path, &info) != 0) return;
  const Stamp stamp{info.st_ino, info.st_size, info.st_mtim};
  if (stamp == seen) return;
  std::ifstream text(path);
  seen = stamp;
  scenario = {};
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "init") words >> scenario.init;
    if (word == "driver") scenario.newer = words >> word && word == "new";
    if (word != "gpu" || scenario.gpus.size() == 64) continue;
    Words gpu;
    while (words >> word) {
      const auto equals = word.find('=');
      if (equals != std::string::npos) gpu[word.substr(0, equals)] = word.substr(equals + 1);
    }
    scenario.gpus.push_back(gpu);
  }
}

std::string word_of(std::size_t gpu, const std::string& key) {
  if (gpu >= scenario.gpus.size()) return {};
  const auto found = scenario.gpus[gpu].find(key);
  return found == scenario.gpus[gpu].end() ? std::string() : found->second;
}

// "15@3": 15 from tick 3 on. Zero where the fault is not due.
int fault_of(std::size_t gpu, const std::string& key) {
  const std::string word = word_of(gpu, key);
  const auto at = word.find('@');
  const int from = at == std::string::npos ? 0 : std::atoi(word.c_str() + at + 1);
  return tick >= from ? std::atoi(word.c_str()) : 0;
}

std::size_t gpu_of(Device device) {
  return static_cast<std::size_t>(static_cast<int*>(device) - handles);
}

// Blocks while the scenario says hang=KEY for this GPU; once in, also while it counts fewer GPUs.
void hang(std::size_t gpu, const std::string& key) {
  for (bool in = false;; in = true) {
    {
      const std::lock_guard lock(mutex);
      refresh(false);
      if (word_of(gpu, "hang") != key && !(in && gpu >= scenario.gpus.size())) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <typename T>
Return get(Device device, const std::string& key, double scale, T* out) {
  const std::size_t gpu = gpu_of(device);
  hang(gpu, key);
  const std::lock_guard lock(mutex);
  if (const int code = fault_of(gpu, "fail"); code != 0) return code;
  if (const int code = fault_of(gpu, key + ".fail"); code != 0) return code;
  const std::string values = word_of(gpu, key);
  if (values.empty()) return kNotSupported;
  std::size_t from = 0;
  for (int i = 0; i < tick; ++i) {
    const std::size_t comma = values.find(',', from);
    if (comma == std::string::npos) break;
    from = comma + 1;
  }
  *out = static_cast<T>(std::atof(values.c_str() + from) * scale);
  return kOk;
}

bool newer() {
  const std::lock_guard lock(mutex);
  return scenario.newer;
}

// A value that only the newer driver has.
template <typename T>
Return get_newer(Device device, const std::string& key, double scale, T* out) {
  return newer() ? get(device, key, scale, out) : kMissingSymbol;
}

Return text(Device device, const std::string& key, char* out, unsigned size) {
  const std::lock_guard lock(mutex);
  if (const int code = fault_of(gpu_of(device), "fail"); code != 0) return code;
  const std::string word = word_of(gpu_of(device), key);
  if (word.size() >= size) return 7;
  std::memcpy(out, word.c_str(), word.size() + 1);
  return kOk;
}

}  // namespace

extern "C" {
Return nvmlInit_v2() {
  const std::lock_guard lock(mutex);
  refresh(true);
  tick = -1;
  return scenario.init;
}
Return nvmlShutdown() {
  return kOk;
}
Return nvmlDeviceGetCount_v2(unsigned* out) {
  const std::lock_guard lock(mutex);
  refresh(true);
  ++tick;
  if (scenario.init != 0) return scenario.init;
  *out = static_cast<unsigned>(scenario.gpus.size());
  return kOk;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
  const std::lock_guard lock(mutex);
  if (index >= scenario.gpus.size()) return 2;
  if (const int code = fault_of(index, "handle"); code != 0) return code;
  *out = &handles[index];
  return kOk;
}
Return nvmlDeviceGetUUID(Device d, char* out, unsigned n) {
  return text(d, "uuid", out, n);
}
Return nvmlDeviceGetName(Device d, char* out, unsigned n) {
  return text(d, "name", out, n);
}
Return nvmlDeviceGetPciInfo_v3(Device d, PciInfo* out) {
  return newer() ? text(d, "pci", out->bus_id, sizeof out->bus_id) : kMissingSymbol;
}
Return nvmlDeviceGetPciInfo_v2(Device d, PciInfo* out) {
  // The short form: a domain of four digits.
  const Return code = text(d, "pci", out->bus_id, sizeof out->bus_id);
  const bool longer = std::strlen(out->bus_id) == sizeof out->legacy;
  std::memcpy(out->legacy, out->bus_id + (longer ? 4 : 0), sizeof out->legacy);
  out->bus_id[0] = '\0';
  return code;
}
Return nvmlDeviceGetPowerUsage(Device d, unsigned* out) {
  return get(d, "power", 1e3, out);
}
Return nvmlDeviceGetEnforcedPowerLimit(Device d, unsigned* out) {
  return get(d, "limit", 1e3, out);
}
Return nvmlDeviceGetUtilizationRates(Device d, Utilization* out) {
  out->memory = 0;
  return get(d, "util", 1, &out->gpu);
}
Return nvmlDeviceGetMemoryInfo(Device d, MemoryV1* out) {
  out->total = out->free = 0;
  return get(d, "memory", 1, &out->used);
}
Return nvmlDeviceGetClockInfo(Device d, unsigned type, unsigned* out) {
  return get(d, type == kClockSm ? "clock" : "mem_clock", 1, out);
}
Return nvmlDeviceGetCurrentClocksThrottleReasons(Device d, unsigned long long* out) {
  return get(d, "reasons", 1, out);
}
Return nvmlDeviceGetTemperature(Device d, unsigned, unsigned* out) {
  return get(d, "temperature", 1, out);
}
Return nvmlDeviceGetMigMode(Device d, unsigned* mode, unsigned* pending) {
  *pending = 0;
  return get(d, "mig", 1, mode);
}
Return nvmlDeviceGetMemoryInfo_v2(Device d, MemoryV2* out) {
  if (!newer()) return kMissingSymbol;
  if (out->version != kMemoryV2) return kStructVersion;
  out->total = out->reserved = out->free = 0;
  return get(d, "memory_v2", 1, &out->used);
}
Return nvmlDeviceGetTemperatureV(Device d, TemperatureV1* out) {
  if (newer() && out->version != kTemperatureV1) return kStructVersion;
  return get_newer(d, "temperature_v", 1, &out->celsius);
}
Return nvmlDeviceGetCurrentClocksEventReasons(Device d, unsigned long long* out) {
  return get_newer(d, "events", 1, out);
}
// 185 is a double, 186 unsigned and 230 a 64-bit one, so that every kind of value is met.
Return nvmlDeviceGetFieldValues(Device d, int count, FieldValue* values) {
  if (!newer()) return kMissingSymbol;
  for (FieldValue* v = values; v != values + count; ++v) {
    v->type = v->id == kFieldPowerAverage ? 0 : v->id == kFieldPowerInstant ? 1 : 3;
    v->code = v->type == 0   ? get(d, "average", 1e3, &v->value.d)
              : v->type == 1 ? get(d, "instant", 1e3, &v->value.u)
                             : get(d, "recovery", 1, &v->value.ull);
  }
  return kOk;
}
Return nvmlDeviceGetPowerManagementDefaultLimit(Device d, unsigned* out) {
  return get_newer(d, "default_limit", 1e3, out);
}
Return nvmlDeviceGetTotalEnergyConsumption(Device d, unsigned long long* out) {
  return get_newer(d, "energy", 1e3, out);
}
Return nvmlDeviceGetPerformanceState(Device d, unsigned* out) {
  return get_newer(d, "pstate", 1, out);
}
Return nvmlDeviceGetCurrPcieLinkGeneration(Device d, unsigned* out) {
  return get_newer(d, "pcie_gen", 1, out);
}
Return nvmlDeviceGetMaxPcieLinkGeneration(Device d, unsigned* out) {
  return get_newer(d, "pcie_gen_max", 1, out);
}
Return nvmlDeviceGetCurrPcieLinkWidth(Device d, unsigned* out) {
  return get_newer(d, "pcie_width", 1, out);
}
Return nvmlDeviceGetMaxPcieLinkWidth(Device d, unsigned* out) {
  return get_newer(d, "pcie_width_max", 1, out);
}
Return nvmlDeviceGetPcieReplayCounter(Device d, unsigned* out) {
  return get_newer(d, "replays", 1, out);
}
Return nvmlDeviceGetTotalEccErrors(Device d, unsigned type, unsigned, unsigned long long* out) {
  return get_newer(d, type == 0 ? "ecc_corrected" : "ecc_uncorrected", 1, out);
}
Return nvmlDeviceGetRemappedRows(Device d, unsigned* corrected, unsigned* uncorrected,
                                 unsigned* pending, unsigned* failed) {
  *corrected = *pending = *failed = 0;
  return get_newer(d, "remapped", 1, uncorrected);
}
}
