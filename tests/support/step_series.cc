#include "tests/support/step_series.h"

#include <cmath>
#include <random>

namespace muster::testing_support {

std::vector<StepRecord> simulate_steps(const StepSeries& s) {
  std::mt19937_64 random(s.seed);
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<StepRecord> records;
  double state = normal(random);
  const double fresh = std::sqrt(1 - s.correlation * s.correlation);
  std::int64_t age = 0;  // steps since the last restart
  const auto add = [&](std::int64_t step, double step_s) {
    StepRecord record;
    record.step = step;
    record.step_s = step_s;
    record.line = records.size() + 1;
    records.push_back(record);
  };
  for (std::int64_t step = 0; step < s.steps; ++step, ++age) {
    if (s.restart_every > 0 && step > 0 && step % s.restart_every == 0) {
      age = 0;
      add(step - 2, s.step_s);
    }
    state = s.correlation * state + fresh * normal(random);
    const bool changed =
        s.change_at >= 0 && step >= s.change_at && (s.change_end < 0 || step < s.change_end);
    double value = s.step_s * std::exp(s.noise * state * (changed ? s.scatter_ratio : 1));
    if (changed) value *= s.change_ratio;
    value *= 1 + s.sag_per_step * static_cast<double>(age);
    if (uniform(random) < s.slow_share_per_step * static_cast<double>(age)) value *= 1.22;
    if (uniform(random) < s.spike_share) value *= 1.2 + 0.8 * uniform(random);
    if (s.spike_every > 0 && step > 0 && step % s.spike_every == 0) value *= s.spike_ratio;
    if (step < s.warm_up_steps) {
      value *= 1 + 2 * static_cast<double>(s.warm_up_steps - step) /
                       static_cast<double>(s.warm_up_steps);
    }
    add(step, value);
  }
  return records;
}

}  // namespace muster::testing_support
