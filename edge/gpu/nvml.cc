#include "edge/gpu/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "edge/gpu/nvml_gpu.h"
#include "edge/os/clock.h"

namespace muster {
namespace {

using nvml::GpuSample;
using nvml::Library;

// A count above this is damage: no host has so many GPUs.
constexpr unsigned kMaxGpus = 64;

struct Start {
  nvml::Return code = nvml::kOk;
  unsigned count = 0;
};

// One thread that answers one question at a time. Its state outlives it and us.
template <typename Answer>
class Worker {
 public:
  explicit Worker(std::function<Answer()> work) : state_(std::make_shared<State>()) {
    thread_ = std::thread([state = state_, work = std::move(work)] { run(*state, work); });
  }
  Worker(Worker&&) = default;
  ~Worker() {
    if (!thread_.joinable()) return;
    bool busy = false;
    {
      const std::lock_guard lock(state_->mutex);
      state_->stop = true;
      busy = state_->asked;
    }
    state_->changed.notify_all();
    // A busy one may hang in the driver for ever.
    busy ? thread_.detach() : thread_.join();
  }

  void ask(MonoTime now) {
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->asked) return;
      state_->asked = true;
      state_->answer.reset();
      asked_at_ = now;
    }
    state_->changed.notify_all();
  }
  std::optional<Answer> wait(MonoTime deadline) {
    std::unique_lock lock(state_->mutex);
    const auto left = deadline - system_clock().mono();
    state_->changed.wait_until(lock, std::chrono::steady_clock::now() + left,
                               [this] { return !state_->asked; });
    if (state_->asked) return std::nullopt;
    return state_->answer;
  }
  MonoTime asked_at() const { return asked_at_; }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool asked = false, stop = false;
    std::optional<Answer> answer;
  };
  static void run(State& state, const std::function<Answer()>& work) {
    std::unique_lock lock(state.mutex);
    for (;;) {
      state.changed.wait(lock, [&] { return state.asked || state.stop; });
      if (state.stop) return;
      lock.unlock();
      Answer answer = work();
      lock.lock();
      state.answer = std::move(answer);
      state.asked = false;
      state.changed.notify_all();
    }
  }
  std::shared_ptr<State> state_;
  std::thread thread_;
  MonoTime asked_at_{};
};

// Starts NVML where it is not, and counts. Used by one thread only.
class Session {
 public:
  explicit Session(Library library) : library_(library) {}
  Start start() {
    Start out;
    if (!started_) out.code = library_.call("nvmlInit_v2");
    if (out.code != nvml::kOk) return out;
    started_ = true;
    out.code = library_.call("nvmlDeviceGetCount_v2", &out.count);
    if (out.code == nvml::kMismatch) {
      library_.call("nvmlShutdown");
      started_ = false;
    }
    return out;
  }

 private:
  Library library_;
  bool started_ = false;
};

class NvmlSource final : public TelemetrySource {
 public:
  explicit NvmlSource(Library library)
      : library_(library),
        session_([session = std::make_shared<Session>(library)] { return session->start(); }) {}

  std::string name() const override { return "nvml"; }

  Status read(MonoTime deadline, TelemetrySink& sink) override {
    session_.ask(system_clock().mono());
    // Half of the time at most, so that a session that hangs leaves some for GPUs known before.
    const MonoTime now = system_clock().mono();
    const auto start = session_.wait(gpus_.empty() ? deadline : now + (deadline - now) / 2);
    if (!start) {
      note_stuck(sink, session_.asked_at(), std::nullopt);
      if (gpus_.empty()) return make_error(Errc::timeout, "NVML did not start in time");
    } else if (start->code != nvml::kOk) {
      return refused(start->code, sink);
    } else {
      resize(start->count < kMaxGpus ? start->count : kMaxGpus);
    }
    for (auto& gpu : gpus_) gpu.ask(system_clock().mono());
    std::size_t answered = 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const auto sample = gpus_[i].wait(deadline);
      if (sample) ++answered;
      sample ? deliver(*sample, sink) : deliver_stuck(i, sink);
    }
    if (gpus_.empty()) {
      sink.note(
          {.kind = NoteKind::no_devices, .text = "NVML counts no GPU", .pci = {}, .index = {}});
    } else if (answered == 0) {
      return make_error(Errc::timeout, "no GPU answered NVML in time");
    }
    return {};
  }

 private:
  void resize(std::size_t count) {
    while (gpus_.size() > count) gpus_.pop_back();
    while (gpus_.size() < count) {
      const int index = static_cast<int>(gpus_.size());
      gpus_.emplace_back([library = library_, index] { return nvml::read_gpu(library, index); });
    }
    known_.resize(count);
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
  static void note_stuck(TelemetrySink& sink, MonoTime since, std::optional<int> index) {
    const std::string text = fmt::format("NVML reader has not returned for {:.3f} s",
                                         duration_to_seconds(system_clock().mono() - since));
    sink.note({.kind = NoteKind::reader_stuck, .text = text, .pci = {}, .index = index});
  }
  void deliver(const GpuSample& sample, TelemetrySink& sink) {
    GpuSample& known = known_[static_cast<std::size_t>(sample.index)];
    push(sample, sample.readings, sink);
    if (sample.code == nvml::kMismatch) {
      sink.note({.kind = NoteKind::driver_mismatch,
                 .text = "NVML code 18",
                 .pci = sample.pci,
                 .index = sample.index});
    } else if (sample.code != nvml::kOk) {
      const std::string text = fmt::format("NVML code {}", sample.code);
      sink.note(
          {.kind = NoteKind::gpu_lost, .text = text, .pci = sample.pci, .index = sample.index});
    }
    known = sample;
    known.readings.clear();
  }
  void deliver_stuck(std::size_t i, TelemetrySink& sink) {
    known_[i].index = static_cast<int>(i);
    push(known_[i], nvml::absent_readings(Absence::timeout), sink);
    note_stuck(sink, gpus_[i].asked_at(), known_[i].index);
  }
  static void push(const GpuSample& who, std::span<const MetricReading> readings,
                   TelemetrySink& sink) {
    TelemetryRow row;
    row.key.uuid = who.uuid;
    row.key.pci = who.pci;
    row.key.name = who.name;
    row.key.index = who.index;
    row.at = system_clock().wall();
    row.at_has_zone = true;
    row.readings = readings;
    sink.row(row);
  }

  Library library_;
  Worker<Start> session_;
  std::vector<Worker<GpuSample>> gpus_;
  std::vector<GpuSample> known_;  // identity as last read, for a reader that is stuck
};

}  // namespace

Result<std::unique_ptr<TelemetrySource>> open_nvml(const NvmlOptions& options) {
  void* handle = dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return make_error(Errc::unsupported,
                      fmt::format("no NVML on this host: {} cannot be loaded", options.library));
  }
  return std::unique_ptr<TelemetrySource>(std::make_unique<NvmlSource>(Library(handle)));
}

}  // namespace muster
