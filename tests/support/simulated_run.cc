#include "tests/support/simulated_run.h"

#include <cmath>

namespace muster {

void SimulatedRun::play(double seconds, const Script& script) {
  const auto ticks = static_cast<int>(seconds / options_.period_s + 0.5);
  std::uniform_real_distribution<double> jitter(-0.03, 0.03);
  for (int tick = 0; tick < ticks; ++tick) {
    for (int rank = 0; rank < options_.hosts * options_.gpus_per_host; ++rank) {
      const double noise = 1 + jitter(rng_);
      const std::optional<Gpu> gpu = script(rank);
      if (!gpu) continue;
      const std::string host = "n" + std::to_string(rank / options_.gpus_per_host + 1);
      const double watts = std::round(gpu->power_w * options_.scale * noise * 100) / 100;
      std::vector<MetricReading> readings = {{Metric::power_w, Reading::of(watts)}};
      if (options_.tell_util) {
        readings.push_back({Metric::util_gpu_percent, Reading::of(gpu->util_percent)});
      }
      if (options_.tell_limit) {
        readings.push_back({Metric::power_limit_w, Reading::of(options_.limit_w * options_.scale)});
      }
      TelemetryRow row;
      row.key.host = host;
      row.key.index = rank % options_.gpus_per_host;
      if (options_.tell_rank) row.key.rank = rank;
      row.key.name = options_.model;
      row.readings = readings;
      const bool last = rank / options_.gpus_per_host == options_.hosts - 1;
      triage_.row(row, last ? now_ - options_.last_host_behind : now_, "sim", "");
    }
    now_ += seconds_to_duration(options_.period_s);
  }
}

void SimulatedRun::log_step(std::int64_t step, std::int64_t target) {
  StepRecord record;
  record.step = step;
  record.target_step = target;
  record.at = now_ + options_.log_ahead;
  triage_.step(record);
}

void SimulatedRun::log_event(ProgressKind kind) {
  ProgressEvent event;
  event.kind = kind;
  event.at = now_ + options_.log_ahead;
  triage_.event(event);
}

}  // namespace muster
