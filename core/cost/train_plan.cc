#include "core/cost/train_plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster::cost {
namespace {

constexpr double kGiga = 1e9;
// Weights in bf16, master weights and two moments in f32; gradients come on top.
constexpr std::uint64_t kStateBytes = 2 + 4 + 8;
constexpr std::uint64_t kSavedBytes = 4 + 8;  // of them, what a checkpoint must keep
constexpr double kRecompute = 4.0 / 3.0;      // forward is a third of a step, and is done twice

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

Status check(const PlanRequest& r) {
  const auto refuse = [](std::string text) {
    return Status(make_error(Errc::invalid_input, std::move(text)));
  };
  constexpr std::uint64_t kMost = 1'000'000;
  const auto counted = [](std::uint64_t value) { return value >= 1 && value <= kMost; };
  if (!counted(r.gpus)) return refuse("--gpus is a number from 1 to 1,000,000");
  if (!counted(r.node_gpus)) return refuse("--node is a number from 1 to 1,000,000");
  if (r.gpus > r.node_gpus && r.gpus % r.node_gpus != 0) {
    return refuse(fmt::format("{} GPUs are no whole nodes of {}: name the GPUs of a node (--node)",
                              r.gpus, r.node_gpus));
  }
  if (!counted(r.sequence)) return refuse("--sequence is a number from 1 to 1,000,000");
  if (!counted(r.micro_batch)) return refuse("--micro is a number from 1 to 1,000,000");
  if (!counted(r.accumulation)) return refuse("--accumulate is a number from 1 to 1,000,000");
  constexpr double kMostTokens = 1e12;  // of a step: a thousand times the largest known
  if (as_double(r.gpus) * as_double(r.sequence) * as_double(r.micro_batch) *
          as_double(r.accumulation) >
      kMostTokens) {
    return refuse("that is more than 1e12 tokens a step");
  }
  if (!(r.mfu > 0) || r.mfu > 1) return refuse("--mfu is a part of 1, such as 0.4");
  const auto rate = [](double value) { return value > 0 && value < 1e9; };
  if (!rate(r.memory_gb)) return refuse("--memory is a number of GB");
  if (!rate(r.link_gb_s)) return refuse("--link is a number of GB/s");
  if (!rate(r.network_gb_s)) return refuse("--network is a number of Gbit/s");
  return {};
}

double activations_gb(const PlanRequest& r, const PlanRow& row) {
  const ModelShape& m = r.model;
  const double tokens = as_double(row.micro_batch * r.sequence);
  const double layer =
      tokens * as_double(8 * m.hidden + 6 * (m.q_width() + m.kv_width()) + 8 * m.intermediate);
  const double input = tokens * as_double(2 * m.hidden);
  const double layers = as_double(m.layers);
  const double logits = tokens * as_double(6 * m.vocabulary);
  return ((row.checkpointing ? layers * input + layer : layers * layer) + logits) / kGiga;
}

double buffers_gb(const ModelShape& m) {
  const double layer = as_double(m.layer_parameters());
  const double ends = as_double(m.embedding_parameters() * (m.tied ? 1 : 2));
  return (3 * 2 * layer + 2 * ends + 2 * 4 * layer) / kGiga;
}

struct Cluster {
  std::uint64_t node_gpus, nodes;
};
Cluster cluster_of(const PlanRequest& r) {
  const std::uint64_t in_node = std::min(r.node_gpus, r.gpus);
  return {in_node, r.gpus / in_node};
}

// What one of `shards` receives of `gb` that all hold together.
double ring(double gb, std::uint64_t shards) {
  return gb * as_double(shards - 1) / as_double(shards);
}

void add_network(const PlanRequest& r, PlanRow& row) {
  const Cluster cluster = cluster_of(r);
  const double gather = 2 * as_double(r.model.parameters()) / kGiga;
  const double reduce = as_double(r.gradient_bytes * r.model.parameters()) / kGiga;
  const double micro = as_double(row.accumulation);
  double moved = 0;
  switch (row.sharding) {
    case Sharding::full:
    case Sharding::in_node:
      moved = (2 * gather + reduce) * micro;
      break;
    case Sharding::keep_weights:
      moved = (gather + reduce) * micro;
      break;
    case Sharding::gather_once:
      moved = gather + reduce;
      break;
  }
  if (row.sharding == Sharding::in_node) {
    const double inside = ring(moved, cluster.node_gpus);
    const double across = 2 * ring(reduce / as_double(cluster.node_gpus), cluster.nodes);
    row.received_gb = inside + across;
    row.network_s = inside / r.link_gb_s + across / r.network_gb_s;
    return;
  }
  row.received_gb = ring(moved, r.gpus);
  row.network_s = row.received_gb / r.link_gb_s;
  if (cluster.nodes > 1) {
    const double ports = r.network_gb_s * as_double(cluster.node_gpus);
    row.network_s = std::max(row.network_s, row.received_gb / ports);
  }
}

PlanRow make_row(const PlanRequest& r, Sharding sharding, std::uint64_t micro, bool checkpointing) {
  PlanRow row;
  row.sharding = sharding;
  row.micro_batch = micro;
  row.accumulation = r.micro_batch * r.accumulation / micro;
  row.checkpointing = checkpointing;
  const double parameters = as_double(r.model.parameters());
  const std::uint64_t shards = sharding == Sharding::in_node ? cluster_of(r).node_gpus : r.gpus;
  row.states_gb =
      as_double(kStateBytes + r.gradient_bytes) * parameters / as_double(shards) / kGiga;
  if (sharding == Sharding::keep_weights) row.held_gb = 2 * parameters / kGiga;
  if (sharding == Sharding::gather_once) {
    row.held_gb = as_double(2 + r.gradient_bytes) * parameters / kGiga;
  }
  row.activations_gb = activations_gb(r, row);
  row.buffers_gb = buffers_gb(r.model);
  // Both ends of an untied model are of one size; that of a tied one is the largest unit, too.
  const std::uint64_t unit = std::max(r.model.embedding_parameters(), r.model.layer_parameters());
  row.save_gb = (as_double(kSavedBytes) * parameters / as_double(shards) +
                 2 * as_double(unit) * (1 + 1 / as_double(shards))) /
                kGiga;
  row.fits = row.memory_gb() <= kUsableMemory * r.memory_gb;
  const double tokens = as_double(r.sequence * r.micro_batch * r.accumulation);  // of one GPU
  row.compute_s = 6 * parameters * tokens / (r.mfu * r.peak_tflops * 1e12);
  if (checkpointing) row.compute_s *= kRecompute;
  add_network(r, row);
  row.wall = !row.fits                       ? Wall::memory
             : row.network_s > row.compute_s ? Wall::network
                                             : Wall::compute;
  return row;
}

std::vector<PlanRow> rows_of(const PlanRequest& r) {
  std::vector<PlanRow> rows = {make_row(r, Sharding::full, r.micro_batch, r.checkpointing)};
  const std::uint64_t blocks = r.micro_batch * r.accumulation;
  rows.push_back(make_row(r, Sharding::full, r.micro_batch, !r.checkpointing));
  for (std::uint64_t micro = 2 * r.micro_batch; micro <= blocks; micro *= 2) {
    if (blocks % micro != 0) continue;
    rows.push_back(make_row(r, Sharding::full, micro, false));
    if (!rows.back().fits) rows.push_back(make_row(r, Sharding::full, micro, true));
  }
  if (r.gpus == 1) return rows;  // nothing is gathered
  for (const Sharding other : {Sharding::keep_weights, Sharding::gather_once, Sharding::in_node}) {
    if (other == Sharding::in_node && cluster_of(r).nodes == 1) continue;
    rows.push_back(make_row(r, other, r.micro_batch, false));
  }
  return rows;
}

std::optional<std::size_t> best_of(const std::vector<PlanRow>& rows) {
  std::optional<std::size_t> best;
  constexpr double kEqual = 1.001;  // a difference below a thousandth is none
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].fits) continue;
    if (!best) {
      best = i;
      continue;
    }
    const double ours = rows[i].step_s(), theirs = rows[*best].step_s();
    const bool faster = ours * kEqual < theirs;
    const bool as_fast = ours < theirs * kEqual;
    if (faster || (as_fast && rows[i].memory_gb() < rows[*best].memory_gb())) best = i;
  }
  return best;
}

}  // namespace

std::string_view sharding_name(Sharding sharding) {
  constexpr std::string_view kNames[] = {"full", "keep-weights", "gather-once", "in-node"};
  return kNames[static_cast<int>(sharding)];
}

std::string_view wall_name(Wall wall) {
  constexpr std::string_view kNames[] = {"compute", "network", "memory"};
  return kNames[static_cast<int>(wall)];
}

double TrainPlan::tokens_per_s(const PlanRow& row) const {
  return as_double(step_tokens) / row.step_s();
}

Result<TrainPlan> plan_training(const PlanRequest& request) {
  if (const Status fine = check(request); !fine) return fine.error();
  TrainPlan plan;
  plan.request = request;
  plan.nodes = cluster_of(request).nodes;
  plan.step_tokens = request.gpus * request.sequence * request.micro_batch * request.accumulation;
  plan.bytes_per_parameter = kStateBytes + request.gradient_bytes;
  plan.states_gb =
      as_double(plan.bytes_per_parameter) * as_double(request.model.parameters()) / kGiga;
  plan.rows = rows_of(request);
  plan.best = best_of(plan.rows);
  return plan;
}

}  // namespace muster::cost
