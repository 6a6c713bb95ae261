#include "edge/gpu/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "edge/gpu/nvml_gpu.h"
#include "edge/gpu/reader_thread.h"
#include "edge/os/clock.h"
#include "edge/os/environment.h"

namespace muster {
namespace {

using nvml::Api;
using nvml::GpuSample;
using nvml::ReaderThread;

// A count above this is damage: no host has so many GPUs.
constexpr unsigned kMaxGpus = 64;

struct Start {
  nvml::Return code = nvml::kOk;
  unsigned count = 0;
};

// Starts NVML where it is not, and counts. Used by one thread only.
class Session {
 public:
  explicit Session(const Api& api) : api_(api) {}
  Start start() {
    Start out;
    if (!started_) out.code = nvml::call(api_.init);
    if (out.code != nvml::kOk) return out;
    started_ = true;
    out.code = nvml::call(api_.count, &out.count);
    if (out.code == nvml::kMismatch) {
      nvml::call(api_.shutdown);
      started_ = false;
    }
    return out;
  }

 private:
  Api api_;
  bool started_ = false;
};

GpuSample sample_gpu(const Api& api, int index) {
  GpuSample out = nvml::read_gpu(api, index);
  out.at = system_clock().wall();
  return out;
}

class NvmlSource final : public TelemetrySource {
 public:
  NvmlSource(const Api& api, nvml::StartThread start_thread)
      : api_(api),
        start_thread_(std::move(start_thread)),
        session_([session = std::make_shared<Session>(api)] { return session->start(); },
                 start_thread_) {}

  std::string name() const override { return "nvml"; }

  Status read(MonoTime deadline, TelemetrySink& sink) override {
    const MonoTime now = system_clock().mono();
    session_.ask(now);
    // Half of the time at most, so that a session that hangs leaves some for GPUs known before.
    const auto start = session_.wait(active_ == 0 ? deadline : now + (deadline - now) / 2);
    if (!start) {
      note_silent(session_, {}, sink);
      if (!session_.has_thread() && active_ == 0) {
        return make_error(Errc::unavailable, "no thread to start NVML in");
      }
      if (active_ == 0) return make_error(Errc::timeout, "NVML did not start in time");
    } else if (start->code != nvml::kOk) {
      return refused(start->code, sink);
    } else {
      resize(start->count < kMaxGpus ? start->count : kMaxGpus);
    }
    if (active_ == 0) {
      sink.note(
          {.kind = NoteKind::no_devices, .text = "NVML counts no GPU", .pci = {}, .index = {}});
      return {};
    }
    return read_gpus(deadline, sink);
  }

 private:
  // Readers of a higher count stay: one of them may hang, and must be found when the count is back.
  void resize(std::size_t count) {
    active_ = count;
    while (gpus_.size() < count) {
      const int index = static_cast<int>(gpus_.size());
      gpus_.emplace_back([api = api_, index] { return sample_gpu(api, index); }, start_thread_);
      known_.emplace_back();
    }
  }

  Status read_gpus(MonoTime deadline, TelemetrySink& sink) {
    for (std::size_t i = 0; i < active_; ++i) gpus_[i].ask(system_clock().mono());
    std::vector<std::optional<GpuSample>> samples(active_);
    bool answered = false, mismatch = false;
    for (std::size_t i = 0; i < active_; ++i) {
      samples[i] = gpus_[i].wait(deadline);
      if (!samples[i]) continue;
      answered = true;
      mismatch = mismatch || samples[i]->mismatch;
      forget_elsewhere(samples[i]->uuid, i);
    }
    for (std::size_t i = 0; i < active_; ++i) {
      samples[i] ? deliver(*samples[i], sink) : deliver_silent(i, sink);
    }
    if (mismatch) {
      sink.note({.kind = NoteKind::driver_mismatch,
                 .text = "NVML code 18: the driver was changed under this process",
                 .pci = {},
                 .index = {}});
    }
    if (!answered) return make_error(Errc::timeout, "no GPU answered NVML in time");
    return {};
  }

  // `uuid` is now at `index`; an index that had it before no longer stands for it.
  void forget_elsewhere(std::string_view uuid, std::size_t index) {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (i != index && !uuid.empty() && known_[i].uuid == uuid) known_[i] = {};
    }
  }

  // Fills in who it is where the GPU does not say, and remembers it where it does.
  void identify(GpuSample& sample) {
    GpuSample& known = known_[static_cast<std::size_t>(sample.index)];
    const bool same = sample.pci.empty() || sample.pci == known.pci;
    if (sample.uuid.empty() && same) {
      sample.uuid = known.uuid;
      sample.pci = known.pci;
      if (sample.name.empty()) sample.name = known.name;
    }
    known.uuid = sample.uuid;
    known.pci = sample.pci;
    known.name = sample.name;
  }

  static Status refused(nvml::Return code, TelemetrySink& sink) {
    NoteKind kind = NoteKind::source_error;
    if (code == nvml::kMismatch) kind = NoteKind::driver_mismatch;
    if (code == nvml::kDriverNotLoaded) kind = NoteKind::driver_missing;
    if (code == nvml::kNoPermission || code == nvml::kUnknown) kind = NoteKind::device_access;
    const std::string text = fmt::format("NVML does not start: code {}", code);
    sink.note({.kind = kind, .text = text, .pci = {}, .index = {}});
    return make_error(Errc::unavailable, text);
  }
  template <typename Thread>
  static void note_silent(const Thread& thread, std::optional<int> index, TelemetrySink& sink) {
    if (!thread.has_thread()) {
      sink.note({.kind = NoteKind::source_error,
                 .text = "a thread that reads NVML cannot start",
                 .pci = {},
                 .index = index});
      return;
    }
    const std::string text =
        fmt::format("NVML reader has not returned for {:.3f} s",
                    duration_to_seconds(system_clock().mono() - thread.asked_at()));
    sink.note({.kind = NoteKind::reader_stuck, .text = text, .pci = {}, .index = index});
  }

  void deliver(GpuSample& sample, TelemetrySink& sink) {
    identify(sample);
    push(sample, sample.readings, sink);
    if (!sample.lost) return;
    const std::string text =
        fmt::format("NVML code {}", sample.handle == nvml::kOk ? nvml::kLost : sample.handle);
    sink.note({.kind = NoteKind::gpu_lost, .text = text, .pci = sample.pci, .index = sample.index});
  }

  void deliver_silent(std::size_t i, TelemetrySink& sink) {
    GpuSample who = known_[i];
    who.index = static_cast<int>(i);
    who.at = system_clock().wall();
    const Absence why = gpus_[i].has_thread() ? Absence::timeout : Absence::read_error;
    push(who, nvml::absent_readings(why), sink);
    note_silent(gpus_[i], who.index, sink);
  }

  static void push(const GpuSample& who, std::span<const MetricReading> readings,
                   TelemetrySink& sink) {
    TelemetryRow row;
    row.key.uuid = who.uuid;
    row.key.pci = who.pci;
    row.key.name = who.name;
    row.key.index = who.index;
    row.at = who.at;
    row.at_has_zone = true;
    row.readings = readings;
    sink.row(row);
  }

  Api api_;
  nvml::StartThread start_thread_;
  ReaderThread<Start> session_;
  std::size_t active_ = 0;  // GPUs counted last; never more than readers
  std::vector<ReaderThread<GpuSample>> gpus_;
  std::vector<GpuSample> known_;  // who was last at each index
};

}  // namespace

std::string nvml_library() {
  return real_environment().get("MUSTER_NVML").value_or("libnvidia-ml.so.1");
}

Result<std::unique_ptr<TelemetrySource>> open_nvml(const NvmlOptions& options) {
  void* handle = dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return make_error(Errc::unsupported,
                      fmt::format("no NVML on this host: {} cannot be loaded", options.library));
  }
  return std::unique_ptr<TelemetrySource>(
      std::make_unique<NvmlSource>(nvml::load_api(handle), options.start_thread));
}

}  // namespace muster
