#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/telemetry/triage.h"

namespace muster {

// SIMULATED telemetry of one training run, for tests and benchmarks: B300-like GPUs (1100 W) whose
// power and utilization follow a script, with the jitter that real boards show (3 % of the power).
// A hang is a wait that does not end: no public labelled recording of a real hang exists.
class SimulatedRun {
 public:
  struct Options {
    int hosts = 2, gpus_per_host = 8;
    double period_s = 1;
    std::uint64_t seed = 1;
    std::string model = "NVIDIA B300 SXM6 AC";  // empty: not told
    bool tell_limit = true, tell_rank = true, tell_util = true;
    double scale = 1;             // of all powers, for other models
    double limit_w = 1100;        // enforced; times the scale as well
    Duration last_host_behind{};  // its clock
    Duration log_ahead{};         // the clock of the step log
  };
  // One GPU at one tick; nothing: the GPU says nothing.
  struct Gpu {
    double power_w, util_percent;
  };
  using Script = std::function<std::optional<Gpu>(int rank)>;

  SimulatedRun(Options options, Triage& triage)
      : options_(options), triage_(triage), rng_(options.seed) {}

  void play(double seconds, const Script& script);
  void compute(double seconds) { all(seconds, 985, 100); }
  void all(double seconds, double power_w, double util_percent) {
    play(seconds, [=](int) { return Gpu{power_w, util_percent}; });
  }
  // The floor with `rank` at 0 % and the others at 100 %.
  void apart(double seconds, int rank) {
    play(seconds, [=](int r) { return Gpu{193, r == rank ? 0.0 : 100.0}; });
  }
  void save(double seconds) { apart(seconds, 0); }
  void log_step(std::int64_t step, std::int64_t target);
  void log_event(ProgressKind kind);

  void wait(Duration silence) { now_ += silence; }

  WallTime now() const { return now_; }
  Report report() const { return triage_.report(now_); }

 private:
  Options options_;
  Triage& triage_;
  std::mt19937_64 rng_;
  WallTime now_ = wall_from_ns(1'780'000'000'000'000'000);
};

}  // namespace muster
