// False alarms and speed of detection of `muster shape` on simulated series.
//   shape_bench [FIRST_SEED [SERIES]]

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/shape/judge.h"
#include "tests/support/step_series.h"

namespace {

using muster::Finding;
using muster::Severity;
using muster::testing_support::simulate_steps;
using muster::testing_support::StepSeries;

// Findings after the first `points` records.
std::vector<Finding> findings(const std::vector<muster::StepRecord>& records, std::size_t points) {
  muster::shape::CurveBuilder builder;
  for (std::size_t i = 0; i < std::min(points, records.size()); ++i) builder.step(records[i]);
  const muster::shape::Curve curve = builder.finish("simulated");
  const muster::shape::Shapes shapes = muster::shape::find_shapes(curve);
  return muster::shape::judge_shape({curve, shapes, {}, {}});
}

bool alarms(const std::vector<Finding>& found) {
  return std::any_of(found.begin(), found.end(),
                     [](const Finding& f) { return f.severity >= Severity::info; });
}

struct Row {
  const char* name;
  StepSeries series;
};

void healthy(const Row& row, std::uint64_t seed, std::uint64_t count) {
  std::uint64_t wrong = 0;
  std::string first;
  for (std::uint64_t i = 0; i < count; ++i) {
    StepSeries series = row.series;
    series.seed = seed + i;
    const auto found = findings(simulate_steps(series), static_cast<std::size_t>(series.steps) * 2);
    if (!alarms(found)) continue;
    ++wrong;
    if (first.empty()) first = fmt::format("  seed {}: {}", series.seed, found.front().summary);
  }
  fmt::print("{:<58} {:>4} of {} with an alarm{}\n", row.name, wrong, count, first);
}

// Steps behind the change after which a warning stands; the series is cut there and judged anew.
void slower(const Row& row, std::uint64_t seed, std::uint64_t count, std::size_t within) {
  std::vector<std::size_t> delays;
  std::uint64_t early = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    StepSeries series = row.series;
    series.seed = seed + i;
    series.steps = series.change_at + 40;
    const auto records = simulate_steps(series);
    const auto at = static_cast<std::size_t>(series.change_at);
    if (alarms(findings(records, at))) ++early;
    for (std::size_t behind = 3; behind <= 40; ++behind) {
      if (!alarms(findings(records, at + behind))) continue;
      delays.push_back(behind);
      break;
    }
  }
  std::sort(delays.begin(), delays.end());
  const auto good =
      std::count_if(delays.begin(), delays.end(), [within](std::size_t d) { return d <= within; });
  fmt::print("{:<58} {:>5.1f} % within {} steps; median {}, p95 {}; {} before it\n", row.name,
             100.0 * static_cast<double>(good) / static_cast<double>(count), within,
             delays.empty() ? 0 : delays[delays.size() / 2],
             delays.empty() ? 0 : delays[delays.size() * 95 / 100], early);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
  fmt::print("seeds {} to {}\n", seed, seed + count - 1);
  healthy({"healthy, noise 0.36 %", {.noise = 0.0036}}, seed, count);
  healthy({"healthy, noise 1 %, correlation 0.5", {.noise = 0.01, .correlation = 0.5}}, seed,
          count);
  healthy({"healthy, noise 0.36 %, 0.5 % single spikes", {.noise = 0.0036, .spike_share = 0.005}},
          seed, count);
  healthy({"healthy, noise 1 %, 0.5, 0.5 % single spikes",
           {.noise = 0.01, .correlation = 0.5, .spike_share = 0.005}},
          seed, count);
  healthy({"healthy, noise 3 %, correlation 0.7", {.noise = 0.03, .correlation = 0.7}}, seed,
          count);
  healthy({"healthy, noise 1 %, correlation 0.5, 60 steps",
           {.steps = 60, .noise = 0.01, .correlation = 0.5}},
          seed, 10 * count);
  healthy({"healthy, noise 1 %, correlation 0.5, warm-up, restarts",
           {.noise = 0.01, .correlation = 0.5, .restart_every = 700, .warm_up_steps = 12}},
          seed, count);
  slower({"3 % slower, noise 0.36 %", {.noise = 0.0036, .change_at = 2500, .change_ratio = 1.03}},
         seed, count, 10);
  slower({"5 % slower, noise 1 %", {.noise = 0.01, .change_at = 2500, .change_ratio = 1.05}}, seed,
         count, 15);
  slower({"5 % slower, noise 1 %, correlation 0.5",
          {.noise = 0.01, .correlation = 0.5, .change_at = 2500, .change_ratio = 1.05}},
         seed, count, 15);
  slower({"5 % slower after 60 steps, noise 1 %",
          {.noise = 0.01, .change_at = 60, .change_ratio = 1.05}},
         seed, count, 15);
}
