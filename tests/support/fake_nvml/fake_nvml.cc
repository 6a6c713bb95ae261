// A stand-in for libnvidia-ml.so.1 with the C ABI of the real one; README.md has the scenario.

#include <algorithm>
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
  std::vector<Words> gpus;
};

std::mutex mutex;
std::string seen;
Scenario scenario;
int tick = -1;
int handles[64];

// Reads the file again if it changed; the caller holds the mutex.
void refresh() {
  const char* path = std::getenv("MUSTER_FAKE_NVML");
  std::ifstream in(path == nullptr ? "" : path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in || text.str() == seen) return;
  seen = text.str();
  scenario = {};
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "init") words >> scenario.init;
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

// Blocks while the scenario says hang=KEY for this GPU.
void hang(std::size_t gpu, const std::string& key) {
  for (;;) {
    {
      const std::lock_guard lock(mutex);
      refresh();
      if (word_of(gpu, "hang") != key) return;
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
  std::istringstream values(word_of(gpu, key));
  std::string value, last;
  for (int i = 0; i <= std::max(tick, 0) && std::getline(values, value, ','); ++i) last = value;
  if (last.empty()) return kNotSupported;
  *out = static_cast<T>(std::atof(last.c_str()) * scale);
  return kOk;
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
  refresh();
  tick = -1;
  return scenario.init;
}
Return nvmlShutdown() {
  return kOk;
}
Return nvmlDeviceGetCount_v2(unsigned* out) {
  const std::lock_guard lock(mutex);
  refresh();
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
  return text(d, "pci", out->bus_id, sizeof out->bus_id);
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
}
