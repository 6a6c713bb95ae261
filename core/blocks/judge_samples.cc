#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "core/blocks/plan_verdicts.h"
#include "core/blocks/rank_steps.h"

namespace muster::blocks {
namespace {

// Samples that a rank may have: as told, or by either way of dealing what does not divide (some
// samplers leave the rest out, others fill up with samples that come twice).
std::vector<std::uint64_t> samples_of_rank(const PlanValues& values) {
  if (const auto samples = values.get(PlanRole::rank_samples)) return {*samples};
  const auto all = values.get(PlanRole::dataset_samples);
  const auto world = values.get(PlanRole::world_size);
  if (!all || !world) return {};
  if (*all % *world == 0) return {*all / *world};
  return {*all / *world, *all / *world + 1};
}

struct Steps {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  void add(std::uint64_t steps) {
    least = std::min(least, steps);
    most = std::max(most, steps);
  }
};

// Over everything that the plan leaves open.
Steps steps_of(const PlanValues& values, const std::vector<std::uint64_t>& samples,
               std::uint64_t micro_batch) {
  const auto drop = values.get(PlanRole::drop_last);
  const std::uint64_t accumulation = values.get(PlanRole::accumulation).value_or(1);
  Steps out;
  for (const std::uint64_t count : samples) {
    for (const bool dropping : {true, false}) {
      if (drop && (*drop == 1) != dropping) continue;
      const std::uint64_t batches = batches_of(count, {micro_batch, 1, dropping});
      out.add(batches / accumulation);
      // Some trainers make a step of micro batches that are left at the end.
      if (batches % accumulation != 0) out.add(batches / accumulation + 1);
    }
  }
  return out;
}

std::string samples_text(const std::vector<std::uint64_t>& samples) {
  return samples.size() == 1
             ? counted(samples[0], "sample")
             : fmt::format("{} or {}", grouped(samples[0]), counted(samples[1], "sample"));
}

Finding no_step(const PlanValues& values, const std::vector<std::uint64_t>& samples,
                std::uint64_t micro_batch, bool sure) {
  Finding finding;
  finding.severity = Severity::critical;
  finding.confidence = sure ? Confidence::high : Confidence::low;
  finding.cause = Cause::run_incomplete_exit_zero;
  const PlanSetting* culprit = values.micro_batch_seen();
  for (const PlanRole role : {PlanRole::rank_samples, PlanRole::world_size}) {
    if (samples.back() == 0 && values.seen(role) != nullptr) culprit = values.seen(role);
  }
  if (culprit != nullptr) finding.culprits.push_back({CulpritKind::config, culprit->name});
  const bool dropping = values.get(PlanRole::drop_last) == 1u;
  finding.summary = fmt::format(
      "{} per rank and a batch of {}{} {} no step: the run would end at once, with exit 0 and "
      "nothing trained",
      samples_text(samples), grouped(micro_batch), dropping ? " with drop_last" : "",
      sure ? "make" : "may make");
  quote_settings(values, finding);
  finding.actions = {Action::refuse_launch, Action::fix_config};
  finding.next = sure ? "Do not launch; take fewer ranks, a smaller batch or more data."
                      : "Say how samples are dealt (per_rank_samples) and whether a batch that is "
                        "not full is dropped (drop_last), and ask again.";
  return finding;
}

Finding same_steps(const PlanValues& values, const std::vector<std::uint64_t>& samples,
                   const Steps& steps) {
  Finding finding;
  finding.severity = Severity::ok;
  finding.cause = Cause::healthy;
  const bool exact = steps.least == steps.most;
  finding.confidence = exact ? Confidence::high : Confidence::medium;
  finding.summary =
      fmt::format("{} per rank: {}{} on every rank, if the sampler gives all ranks as many",
                  samples_text(samples), exact ? "" : grouped(steps.least) + " to ",
                  counted(steps.most, "step"));
  quote_settings(values, finding);
  finding.actions = {Action::none};
  return finding;
}

}  // namespace

void judge_samples(const PlanValues& values, Report& report) {
  const std::vector<std::uint64_t> samples = samples_of_rank(values);
  if (samples.empty()) {
    return ask_for_more(
        "settings alone do not tell what each rank reads",
        "Name a table of the ranks beside them (rank, file, bytes or rank, samples), or "
        "dataset_samples and world_size.",
        "the plan", report);
  }
  const auto micro = values.micro_batch();
  if (!micro && samples.back() != 0) {
    return ask_for_more("no batch size is named", "Name the batch of one rank (batch_size=16).",
                        "the plan", report);
  }
  const std::uint64_t micro_batch = micro.value_or(1);
  const Steps steps = steps_of(values, samples, micro_batch);
  if (steps.least == 0) {
    report.findings.push_back(no_step(values, samples, micro_batch, steps.most == 0));
  } else if (!report.blind.empty()) {
    ask_for_more("a line of the plan is not understood", "Look at what is listed as not read.",
                 report.blind.front().source, report);
  } else {
    report.findings.push_back(same_steps(values, samples, steps));
  }
}

}  // namespace muster::blocks
