#include "tests/support/flight_program.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster {
namespace {

constexpr std::int64_t kMs = 1'000'000;
const char* const kHalf = "BFloat16";
const char* const kFull = "Float";

// Writes the program of one rank.
class ProgramWriter {
 public:
  ProgramWriter(SimulatedJob& job, std::size_t rank)
      : job_(job), set_(job.settings), place_(job.topology.places[rank]), rank_(rank) {}

  std::vector<Action> write() {
    for (step_ = 0; step_ < set_.steps; ++step_) write_step();
    std::vector<Action> last = final_actions(job_, set_.steps, false);
    out_.insert(out_.end(), last.begin(), last.end());
    return std::move(out_);
  }

 private:
  using Sizes = std::vector<std::int64_t>;

  Action& add(ActionKind kind) {
    Action a;
    a.kind = kind;
    a.step = step_;
    out_.push_back(a);
    return out_.back();
  }
  void work(ActionKind kind, std::int64_t ns) { add(kind).ns = ns; }
  void wait(std::size_t group, std::size_t back = 0) {
    if (group == kNoIndex) return;
    Action& a = add(ActionKind::wait);
    a.group = group;
    a.back = back;
  }
  void call(Dimension d, CallSite site, const char* name, const Sizes& in, const Sizes& out,
            const char* dtype) {
    const std::size_t group = place_.group(d);
    if (group == kNoIndex) return;
    const std::uint32_t signature = job_.signature(std::string("nccl:") + name, in, out, dtype);
    Action& a = add(ActionKind::collective);
    a.group = group;
    a.site = site;
    a.signature = signature;
  }
  void reduce(Dimension d, CallSite site, std::int64_t count, const char* dtype) {
    call(d, site, "all_reduce", {count}, {count}, dtype);
  }
  void world(CallSite site, const char* name, std::int64_t count) {
    call(Dimension::world, site, name, {count}, {count}, kFull);
    wait(0);
    add(ActionKind::sync);
  }
  std::int64_t members(Dimension d) const {
    return static_cast<std::int64_t>(job_.topology.groups[place_.group(d)].ranks.size());
  }
  // Elements of the parameters of a layer; the first one holds the embedding.
  std::int64_t parameters(std::uint32_t layer) const {
    return set_.hidden * (layer == 0 ? 9000 : 12 * 512);
  }

  void write_step();
  void forward_layer(std::uint32_t layer);
  void backward_layer(std::uint32_t layer, bool last_micro_batch);
  void gather(CallSite site, std::uint32_t layer);
  void forward();
  void backward(bool last_micro_batch);
  void pipeline();
  void message(ActionKind kind, std::size_t peer, CallSite site);
  void end_messages(std::size_t count);
  void optimizer();
  void between_steps();
  void evaluate();

  SimulatedJob& job_;
  const JobSettings& set_;
  const RankPlace& place_;
  const std::size_t rank_;
  std::uint32_t step_ = 0;
  std::vector<Action> out_;
};

void ProgramWriter::gather(CallSite site, std::uint32_t layer) {
  const std::size_t group = place_.group(Dimension::shard);
  if (group == kNoIndex) return;
  const std::int64_t part = parameters(layer) / members(Dimension::shard) + 1;
  call(Dimension::shard, site, "_all_gather_base", {part}, {part * members(Dimension::shard)},
       kHalf);
}

void ProgramWriter::forward_layer(std::uint32_t layer) {
  // The parameters of the next layer are on their way while this one computes.
  if (layer == 0) gather(CallSite::shard_gather_forward, 0);
  const bool prefetch = layer + 1 < set_.layers;
  if (prefetch) gather(CallSite::shard_gather_forward, layer + 1);
  wait(place_.group(Dimension::shard), prefetch ? 1 : 0);
  work(ActionKind::gpu, 3 * kMs);
  const Sizes activation = {1, set_.tokens, set_.hidden};
  if (place_.group(Dimension::context) != kNoIndex) {
    const std::int64_t part = set_.tokens / members(Dimension::context);
    call(Dimension::context, CallSite::context_forward, "_all_gather_base", {part, 2, 128},
         {part * members(Dimension::context), 2, 128}, kHalf);
    wait(place_.group(Dimension::context));
  }
  for (int half = 0; half < 2; ++half) {
    call(Dimension::tensor, CallSite::tensor_forward, "all_reduce", activation, activation, kHalf);
    wait(place_.group(Dimension::tensor));
    work(ActionKind::gpu, kMs);
  }
  // How many tokens go to an expert differs from rank to rank.
  const std::int64_t routed = set_.tokens + static_cast<std::int64_t>((rank_ * 37 + layer) % 64);
  const std::size_t expert = place_.group(Dimension::expert);
  call(Dimension::expert, CallSite::expert_dispatch, "all_to_all", {set_.tokens, set_.hidden},
       {routed, set_.hidden}, kHalf);
  wait(expert);
  call(Dimension::expert, CallSite::expert_combine, "all_to_all", {routed, set_.hidden},
       {set_.tokens, set_.hidden}, kHalf);
  wait(expert);
}

void ProgramWriter::backward_layer(std::uint32_t layer, bool last_micro_batch) {
  if (layer + 1 == set_.layers) gather(CallSite::shard_gather_backward, layer);
  if (layer > 0) gather(CallSite::shard_gather_backward, layer - 1);
  wait(place_.group(Dimension::shard), layer > 0 ? 1 : 0);
  work(ActionKind::gpu, 6 * kMs);
  const Sizes activation = {1, set_.tokens, set_.hidden};
  for (int half = 0; half < 2; ++half) {
    call(Dimension::tensor, CallSite::tensor_backward, "all_reduce", activation, activation, kHalf);
    wait(place_.group(Dimension::tensor));
  }
  if (place_.group(Dimension::context) != kNoIndex) {
    const std::int64_t part = set_.tokens / members(Dimension::context);
    call(Dimension::context, CallSite::context_backward, "_reduce_scatter_base",
         {part * members(Dimension::context), 2, 128}, {part, 2, 128}, kHalf);
    wait(place_.group(Dimension::context));
  }
  if (!last_micro_batch) return;
  std::int64_t part = parameters(layer);
  if (place_.group(Dimension::shard) != kNoIndex) {
    part = part / members(Dimension::shard) + 1;
    call(Dimension::shard, CallSite::shard_reduce, "_reduce_scatter_base",
         {part * members(Dimension::shard)}, {part}, kFull);
    if (place_.group(Dimension::replicate) != kNoIndex) wait(place_.group(Dimension::shard));
  }
  const bool sharded = place_.group(Dimension::shard) != kNoIndex;
  reduce(Dimension::replicate, sharded ? CallSite::replica_reduce : CallSite::bucket_reduce, part,
         kFull);
}

void ProgramWriter::forward() {
  for (std::uint32_t layer = 0; layer < set_.layers; ++layer) forward_layer(layer);
}

void ProgramWriter::backward(bool last_micro_batch) {
  for (std::uint32_t layer = set_.layers; layer-- > 0;) backward_layer(layer, last_micro_batch);
  if (!last_micro_batch) return;
  wait(place_.group(Dimension::shard));
  wait(place_.group(Dimension::replicate));
}

void ProgramWriter::message(ActionKind kind, std::size_t peer, CallSite site) {
  if (peer == kNoIndex) return;
  const std::size_t me = place_.stage;
  const std::size_t other = job_.topology.places[peer].stage;
  const Sizes sizes = {set_.tokens, 1, set_.hidden};
  const std::string name = kind == ActionKind::send ? fmt::format("nccl:send {}->{}", me, other)
                                                    : fmt::format("nccl:recv {}<-{}", me, other);
  const std::uint32_t signature = job_.signature(name, sizes, sizes, kHalf);
  Action& a = add(kind);
  a.group = place_.group(Dimension::pipeline);
  a.peer = peer;
  a.site = site;
  a.signature = signature;
  a.batched = !set_.single_messages;
}

// Ends what message() began: `count` of them have been written, or none where there is no peer.
void ProgramWriter::end_messages(std::size_t count) {
  if (out_.empty() || !out_.back().is_message()) return;
  const std::size_t group = out_.back().group;
  if (set_.single_messages) {
    for (std::size_t i = 0; i < count; ++i) wait(group, i);
    return;
  }
  const CallSite site = out_.back().site;
  const std::uint32_t signature = job_.signature("nccl:coalesced", {}, {}, "");
  Action& a = add(ActionKind::batch_end);
  a.group = group;
  a.site = site;
  a.signature = signature;
  wait(group);
}

// One forward, one backward: the schedule that most trainers use. Towards the next stage a rank
// sends first, towards the previous one it receives first, so that messages sent alone meet.
void ProgramWriter::pipeline() {
  const auto stages = static_cast<std::uint32_t>(job_.topology.stages);
  const auto stage = static_cast<std::uint32_t>(place_.stage);
  const std::uint32_t warm_up = std::min(stages - stage - 1, set_.micro_batches);
  const std::uint32_t steady = set_.micro_batches - warm_up;
  const auto one = [this](ActionKind kind, std::size_t peer, CallSite site) {
    message(kind, peer, site);
    end_messages(1);
  };
  for (std::uint32_t i = 0; i < warm_up; ++i) {
    one(ActionKind::receive, place_.previous, CallSite::stage_receive_forward);
    forward();
    one(ActionKind::send, place_.next, CallSite::stage_send_forward);
  }
  if (steady > 0) one(ActionKind::receive, place_.previous, CallSite::stage_receive_forward);
  for (std::uint32_t i = 0; i < steady; ++i) {
    const bool last = i + 1 == steady;
    forward();
    message(ActionKind::send, place_.next, CallSite::stage_send_forward);
    message(ActionKind::receive, place_.next, CallSite::stage_receive_backward);
    end_messages(2);
    backward(last && warm_up == 0);
    if (!last) message(ActionKind::receive, place_.previous, CallSite::stage_receive_forward);
    message(ActionKind::send, place_.previous, CallSite::stage_send_backward);
    end_messages(last ? 1 : 2);
  }
  for (std::uint32_t i = 0; i < warm_up; ++i) {
    one(ActionKind::receive, place_.next, CallSite::stage_receive_backward);
    backward(i + 1 == warm_up);
    one(ActionKind::send, place_.previous, CallSite::stage_send_backward);
  }
}

void ProgramWriter::optimizer() {
  if (set_.norm_by_dimension) {
    for (const Dimension d : {Dimension::shard, Dimension::tensor, Dimension::pipeline}) {
      reduce(d, CallSite::grad_norm, 1, kFull);
      wait(place_.group(d));
    }
  } else {
    reduce(Dimension::world, CallSite::grad_norm, 1, kFull);
    wait(0);
  }
  if (set_.overflow_check) {
    reduce(Dimension::world, CallSite::overflow_check, 1, kFull);
    wait(0);
  }
  work(ActionKind::gpu, 5 * kMs);
  if ((step_ + 1) % set_.sync_every == 0) add(ActionKind::sync);
}

void ProgramWriter::evaluate() {
  for (std::uint32_t layer = 0; layer < set_.layers; ++layer) {
    gather(CallSite::eval_gather, layer);
    wait(place_.group(Dimension::shard));
    work(ActionKind::gpu, 3 * kMs);
  }
  world(CallSite::eval_loss, "all_reduce", 2);
}

void ProgramWriter::between_steps() {
  if ((step_ + 1) % set_.metrics_every == 0) world(CallSite::metrics, "all_reduce", 3);
  if ((step_ + 1) % set_.checkpoint_every == 0) {
    world(CallSite::checkpoint_before, "all_reduce_barrier", 1);
    work(ActionKind::cpu, 2000 * kMs);
    world(CallSite::checkpoint_after, "all_reduce_barrier", 1);
  }
  if ((step_ + 1) % set_.eval_every == 0) evaluate();
  if (step_ < set_.new_group_at) return;
  const bool made_now = step_ == set_.new_group_at;
  if (made_now) work(ActionKind::cpu, 400 * kMs);
  const std::uint32_t signature = job_.signature("nccl:all_reduce", {64}, {64}, kFull);
  const std::size_t group = job_.topology.groups.size() - 1;
  Action& a = add(ActionKind::collective);
  a.group = group;
  a.site = CallSite::new_group_use;
  a.signature = signature;
  wait(group);
  add(ActionKind::sync);
}

void ProgramWriter::write_step() {
  Action& fetch = add(ActionKind::cpu);
  fetch.ns = 4 * kMs;
  fetch.step_start = true;
  if (job_.topology.stages > 1) {
    pipeline();
  } else {
    for (std::uint32_t i = 0; i < set_.micro_batches; ++i) {
      forward();
      backward(i + 1 == set_.micro_batches);
    }
  }
  optimizer();
  between_steps();
}

}  // namespace

std::uint32_t SimulatedJob::signature(const std::string& name, const std::vector<std::int64_t>& in,
                                      const std::vector<std::int64_t>& out,
                                      const std::string& dtype) {
  const auto [at, made] =
      known_.try_emplace({name, in, out, dtype}, static_cast<std::uint32_t>(signatures.size()));
  if (made) {
    FlightSignature s;
    s.name = name;
    if (!dtype.empty()) {
      s.input_sizes = {in};
      s.output_sizes = {out};
      s.input_dtypes = s.output_dtypes = {dtype};
    }
    signatures.push_back(s);
  }
  return at->second;
}

SimulatedJob draw_job(TopologyKind kind, bool makes_group, SimulatorRng& rng) {
  SimulatedJob job;
  job.topology = draw_topology(kind, rng);
  JobSettings& s = job.settings;
  const auto pick = [&rng](std::size_t low, std::size_t high) {
    return static_cast<std::uint32_t>(draw(rng, low, high));
  };
  const auto stages = static_cast<std::uint32_t>(job.topology.stages);
  s.layers = stages > 1 ? pick(1, 3) : pick(2, 8);
  s.micro_batches = stages > 1 ? pick(stages, 2 * std::size_t{stages}) : pick(1, 2);
  s.steps = stages > 1 ? pick(4, 7) : pick(5, 12);
  s.sync_every = draw_percent(rng, 70) ? 1 : pick(2, 3);
  s.metrics_every = pick(1, 4);
  s.checkpoint_every = pick(2, 6);
  s.eval_every = pick(3, 8);
  if (makes_group || draw_percent(rng, 15)) s.new_group_at = pick(1, s.steps - 2);
  s.norm_by_dimension = draw_percent(rng, 40);
  s.single_messages = draw_percent(rng, 40);
  s.overflow_check = draw_percent(rng, 30);
  s.hidden = std::int64_t{1024} * pick(1, 8);
  s.tokens = std::int64_t{2048} * pick(1, 8);
  if (s.new_group_at != UINT32_MAX) {
    SimulatedGroup all = job.topology.groups[0];
    all.name = std::to_string(job.topology.groups.size());
    all.description = "statistics";
    job.topology.groups.push_back(all);
  }
  for (std::size_t rank = 0; rank < job.topology.ranks; ++rank) {
    job.programs.push_back(ProgramWriter(job, rank).write());
  }
  return job;
}

std::vector<Action> final_actions(SimulatedJob& job, std::uint32_t step, bool reduce_first) {
  std::vector<Action> actions;
  const auto add = [&](CallSite site, const char* name, std::int64_t count) {
    Action a;
    a.kind = ActionKind::collective;
    a.step = step;
    a.group = 0;
    a.site = site;
    a.signature = job.signature(name, {count}, {count}, "Float");
    actions.push_back(a);
    a.kind = ActionKind::wait;
    actions.push_back(a);
    a.kind = ActionKind::sync;
    actions.push_back(a);
  };
  if (reduce_first) add(CallSite::final_reduce, "nccl:all_reduce", 4);
  add(CallSite::final_save, "nccl:all_reduce_barrier", 1);
  return actions;
}

}  // namespace muster
