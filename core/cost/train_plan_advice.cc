#include <fmt/core.h>

#include "core/cost/train_plan.h"

namespace muster::cost {
namespace {

std::string percent_faster(double from_s, double to_s) {
  return fmt::format("{:.0f} % faster", (from_s / to_s - 1) * 100);
}

// A gain below this is none: the assumptions are no better.
constexpr double kPays = 1.02;

std::string wall_advice(const TrainPlan& plan) {
  const PlanRow& row = plan.rows.front();
  const double usable = plan.request.memory_gb * kUsableMemory;
  if (!row.fits) {
    return fmt::format("does not fit: {:.0f} GB a GPU, and {:.0f} of its {:.0f} GB can be used",
                       row.memory_gb(), usable, plan.request.memory_gb);
  }
  const double micro = static_cast<double>(row.accumulation);
  if (row.network_s <= 0) return "nothing crosses a network: one GPU";
  const std::string figures = fmt::format("{:.2f} s of each micro batch's {:.2f} s",
                                          row.network_s / micro, row.step_s() / micro);
  return row.wall == Wall::network
             ? fmt::format("the network is the wall: busy {}, so faster kernels change nothing",
                           figures)
             : fmt::format("compute is the wall: the network is busy {}, behind it", figures);
}

std::string micro_advice(const TrainPlan& plan) {
  const PlanRow& asked = plan.rows.front();
  const PlanRow* best = nullptr;
  bool larger = false;
  for (const PlanRow& row : plan.rows) {
    if (row.sharding != Sharding::full || row.micro_batch <= asked.micro_batch) continue;
    larger = true;
    if (!row.fits || row.checkpointing != asked.checkpointing) continue;
    if (best == nullptr || row.step_s() * kPays < best->step_s()) best = &row;
  }
  if (!larger) return {};
  if (best == nullptr) return "a larger micro batch does not fit";
  const bool pays = !asked.fits || best->step_s() * kPays < asked.step_s();
  const std::string moved =
      fmt::format("{:.0f} GB in place of {:.0f}", best->received_gb, asked.received_gb);
  const std::string words =
      fmt::format("--micro {} --accumulate {}", best->micro_batch, best->accumulation);
  if (pays) {
    return fmt::format(
        "a larger micro batch pays: {} is the same step, moves {}, needs {:.0f} GB, "
        "{}",
        words, moved, best->memory_gb(), percent_faster(asked.step_s(), best->step_s()));
  }
  return fmt::format(
      "a larger micro batch does not pay while compute is the wall; {} would move {}", words,
      moved);
}

std::string checkpointing_advice(const TrainPlan& plan) {
  const PlanRow& asked = plan.rows[0];
  const PlanRow& other = plan.rows[1];  // the same with the opposite
  const PlanRow& with = asked.checkpointing ? asked : other;
  const PlanRow& without = asked.checkpointing ? other : asked;
  if (without.fits) {
    return fmt::format(
        "gradient checkpointing does not pay: it would free {:.0f} GB that are "
        "there, and compute a third more ({:.2f} s a step in place of {:.2f})",
        without.memory_gb() - with.memory_gb(), with.step_s(), without.step_s());
  }
  if (with.fits) {
    return fmt::format(
        "gradient checkpointing pays: with it {:.0f} GB in place of {:.0f}, which "
        "do not fit",
        with.memory_gb(), without.memory_gb());
  }
  return fmt::format(
      "even with gradient checkpointing it needs {:.0f} GB a GPU: more GPUs, shorter "
      "sequences or a smaller model",
      with.memory_gb());
}

std::string save_advice(const TrainPlan& plan) {
  return fmt::format(
      "while a checkpoint is written each rank holds {:.1f} GB more, {:.0f} GB a node, in the "
      "memory of the host",
      plan.rows.front().save_gb,
      plan.rows.front().save_gb * static_cast<double>(plan.request.gpus / plan.nodes));
}

std::string sharding_advice(const TrainPlan& plan) {
  if (!plan.best) return {};
  const PlanRow& best = plan.rows[*plan.best];
  const PlanRow& asked = plan.rows.front();
  if (best.sharding == Sharding::full) return {};
  if (asked.fits && best.step_s() * kPays >= asked.step_s()) return {};
  return fmt::format("fastest that fits: {}, {:.2f} s a step", sharding_name(best.sharding),
                     best.step_s());
}

}  // namespace

std::vector<std::string> plan_advice(const TrainPlan& plan) {
  std::vector<std::string> advice;
  for (std::string text : {wall_advice(plan), micro_advice(plan), checkpointing_advice(plan),
                           sharding_advice(plan), save_advice(plan)}) {
    if (!text.empty()) advice.push_back(std::move(text));
  }
  return advice;
}

}  // namespace muster::cost
