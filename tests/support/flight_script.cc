#include "tests/support/flight_script.h"

#include <fmt/core.h>

#include <algorithm>

namespace muster {

RankList ranks_between(std::size_t first, std::size_t last) {
  RankList ranks;
  for (std::size_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
  return ranks;
}

RankList without(RankList ranks, std::size_t rank) {
  std::erase(ranks, rank);
  return ranks;
}

FlightScript::FlightScript(std::size_t ranks) {
  job_.topology.ranks = ranks;
  job_.topology.groups.push_back({"0", "default_pg", ranks_between(0, ranks - 1)});
  job_.topology.places.resize(ranks);
  job_.programs.resize(ranks);
  rings_.host_offsets_ns.assign(ranks / 8 + 1, 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    rings_.watchdog_phases_ns.push_back(static_cast<std::int64_t>(rank) * 1'000'000);
  }
}

std::size_t FlightScript::group(const std::string& name, const std::string& description,
                                RankList ranks) {
  job_.topology.groups.push_back({name, description, std::move(ranks)});
  return job_.topology.groups.size() - 1;
}

Action& FlightScript::add(std::size_t rank, ActionKind kind) {
  Action a;
  a.kind = kind;
  job_.programs[rank].push_back(a);
  return job_.programs[rank].back();
}

void FlightScript::call(const RankList& ranks, const Call& call) {
  const std::uint32_t signature = job_.signature(call.name, call.in, call.out, call.dtype);
  for (const std::size_t rank : ranks) {
    Action& a = add(rank, ActionKind::collective);
    a.site = call.site;
    a.group = call.group;
    a.signature = signature;
    add(rank, ActionKind::wait).group = call.group;
  }
}

void FlightScript::gathers(const RankList& ranks, int layers) {
  const auto all = static_cast<std::int64_t>(job_.topology.ranks);
  for (int i = 0; i < layers; ++i) {
    const std::int64_t part = 1024 * (i + 1);
    call(ranks, {CallSite::shard_gather_forward, "nccl:_all_gather_base", {part}, {part * all}});
  }
}

void FlightScript::reductions(const RankList& ranks, int layers) {
  const auto all = static_cast<std::int64_t>(job_.topology.ranks);
  for (int i = layers; i-- > 0;) {
    const std::int64_t part = 1024 * (i + 1);
    call(ranks,
         {CallSite::shard_reduce, "nccl:_reduce_scatter_base", {part * all}, {part}, "Float"});
  }
}

void FlightScript::barrier(const RankList& ranks, CallSite site) {
  call(ranks, {site, "nccl:all_reduce", {1}, {1}, "Float"});
  sync(ranks);
}

void FlightScript::message(std::size_t rank, Way way, std::size_t peer, std::size_t group,
                           bool batched) {
  const RankList& members = job_.topology.groups[group].ranks;
  const auto local = [&members](std::size_t r) {
    return std::find(members.begin(), members.end(), r) - members.begin();
  };
  const bool sends = way == Way::send;
  const std::string name = fmt::format("nccl:{} {}{}{}", sends ? "send" : "recv", local(rank),
                                       sends ? "->" : "<-", local(peer));
  const std::uint32_t signature = job_.signature(name, {2048, 4096}, {2048, 4096}, "BFloat16");
  Action& a = add(rank, sends ? ActionKind::send : ActionKind::receive);
  a.group = group;
  a.peer = peer;
  a.batched = batched;
  a.site = sends ? CallSite::stage_send_forward : CallSite::stage_receive_forward;
  a.signature = signature;
  if (!batched) add(rank, ActionKind::wait).group = group;
}

void FlightScript::close_batch(std::size_t rank, std::size_t group) {
  const std::uint32_t signature = job_.signature("nccl:coalesced", {}, {}, "");
  Action& a = add(rank, ActionKind::batch_end);
  a.group = group;
  a.site = CallSite::stage_send_forward;
  a.signature = signature;
  add(rank, ActionKind::wait).group = group;
}

void FlightScript::sync(const RankList& ranks) {
  for (const std::size_t rank : ranks) add(rank, ActionKind::sync);
}

void FlightScript::cpu(std::size_t rank, std::int64_t ms) {
  add(rank, ActionKind::cpu).ns = ms * 1'000'000;
}

void FlightScript::gpu(std::size_t rank, std::int64_t ms) {
  add(rank, ActionKind::gpu).ns = ms * 1'000'000;
}

void FlightScript::stop(std::size_t rank, ActionKind how) {
  add(rank, how);
}

std::vector<FlightDump> FlightScript::run() {
  SimulatorRng rng(1);
  Machine machine(job_, broken_, false, rng);
  machine.run();
  const std::int64_t at = machine.timeout_ns(std::int64_t{rings_.timeout_ms} * 1'000'000);
  std::vector<FlightDump> dumps;
  for (std::size_t rank = 0; rank < job_.topology.ranks; ++rank) {
    const std::vector<Action>& program = job_.programs[rank];
    const bool gone = !program.empty() && program.back().kind == ActionKind::gone;
    if (!gone) dumps.push_back(make_dump(job_, machine, rings_, rank, at));
  }
  return dumps;
}

}  // namespace muster
