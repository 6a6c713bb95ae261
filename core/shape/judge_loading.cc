#include <fmt/core.h>

#include <cmath>

#include "base/text.h"
#include "core/shape/verdicts.h"

namespace muster::shape {
namespace {

constexpr double kWaits = 0.25;  // of a step: a loader that keeps up hides all but a few per cent
constexpr double kWaitsFarTooLong = 0.40;

std::optional<std::int64_t> workers_of(const Surroundings& around, const Setting*& setting) {
  setting = around.find("workers");
  return setting != nullptr ? parse_int(setting->value) : std::nullopt;
}

void add_wait(const ShapeCase& c, Finding& finding) {
  for (std::size_t i = c.shapes.warm_up.points; i < c.curve.points.size(); ++i) {
    const CurvePoint& point = c.curve.points[i];
    if (std::isnan(point.loading_s) || std::isnan(point.step_s)) continue;
    finding.evidence.push_back(
        seen_point(c, i,
                   fmt::format("{} of {} waiting for data", seconds_text(point.loading_s),
                               seconds_text(point.step_s))));
    return;
  }
}

Finding too_few_cores(const ShapeCase& c, std::int64_t cores, const Setting* workers) {
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = Confidence::high;
  finding.cause = Cause::cpu_binding;
  finding.culprits.push_back({CulpritKind::config, "cpus_per_task"});
  const std::string who = workers != nullptr ? fmt::format("{} loader workers share",
                                                           escape_controls(workers->value, 20))
                                             : std::string("the loader has");
  finding.summary = fmt::format(
      "{} of each step waits for data: {} {} CPU core{} of the task; the storage is not shown to "
      "be "
      "slow",
      percent(c.shapes.loading_share), who, cores, cores == 1 ? "" : "s");
  add_wait(c, finding);
  if (c.around.cores_seen) finding.evidence.push_back(quoted(*c.around.cores_seen));
  if (c.around.cpus_unset) finding.evidence.push_back(quoted(*c.around.cpus_unset));
  if (workers != nullptr) finding.evidence.push_back(quoted(workers->seen));
  finding.actions = {Action::fix_config, Action::recheck};
  finding.next = fmt::format(
      "Give each task its cores (srun --cpus-per-task={}, which srun does not take from sbatch by "
      "itself), look at taskset -cp PID again, and measure before blaming the storage.",
      workers != nullptr ? escape_controls(workers->value, 20) : std::string("16"));
  return finding;
}

}  // namespace

std::optional<Finding> judge_loading(const ShapeCase& c) {
  const double share = c.shapes.loading_share;
  if (!(share >= kWaits) || c.shapes.judged < 5) return std::nullopt;
  const Setting* workers = nullptr;
  const auto count = workers_of(c.around, workers);
  if (c.around.cores && *c.around.cores > 0 &&
      (count ? *c.around.cores * 2 <= *count : *c.around.cores <= 2)) {
    return too_few_cores(c, *c.around.cores, workers);
  }
  Finding finding;
  finding.severity = Severity::warning;
  finding.confidence = share >= kWaitsFarTooLong ? Confidence::high : Confidence::medium;
  finding.cause = Cause::data_starvation;
  finding.culprits.push_back({CulpritKind::unknown, ""});
  if (!c.around.data_path.empty()) {
    finding.culprits.back() = {CulpritKind::file, c.around.data_path};
  }
  finding.summary = fmt::format("{} of each step waits for data, in {} of {} steps", percent(share),
                                c.shapes.judged, c.curve.points.size());
  add_wait(c, finding);
  if (c.around.data_place) finding.evidence.push_back(quoted(*c.around.data_place));
  finding.actions = {Action::speed_up_input, Action::recheck};
  finding.next =
      "Which half is slow? Read the data files alone (bytes a second), tokenize or decode alone "
      "(samples a second); then local disk, packing before the run, more workers. The GPUs and the "
      "network are not shown to be slow.";
  return finding;
}

}  // namespace muster::shape
