#include "tests/support/flight_simulator.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "tests/support/flight_rings.h"
#include "tests/support/flight_waits.h"

namespace muster {
namespace {

// Seeds that lie side by side must not make jobs that look alike.
SimulatorRng rng_of(std::uint64_t seed, std::uint64_t stream) {
  return SimulatorRng((seed + 1) * 0x9E3779B97F4A7C15U ^ (stream + 1) * 0xD1B54A32D192ED03U);
}

std::int64_t timeout_ns(const Machine& machine, const RingSettings& rings) {
  return machine.timeout_ns(std::int64_t{rings.timeout_ms} * 1'000'000);
}

// Right after the mixed-up call was done, while the rings still hold it.
std::int64_t after_change_ns(const PlantedFault& fault, const SimulatedJob& job,
                             const Machine& machine) {
  const Action* changed = &job.programs[fault.changed->rank][fault.changed->call];
  for (const SimulatedCall& c : machine.calls(fault.changed->rank)) {
    if (c.action == changed) return c.done_ns + 1'000'000;
  }
  return machine.end_ns();
}

bool is_gone(const SimulatedJob& job, std::size_t rank) {
  return std::any_of(job.programs[rank].begin(), job.programs[rank].end(),
                     [](const Action& a) { return a.kind == ActionKind::gone; });
}

RankWitness witness(WitnessKind kind, std::size_t rank, const std::string& text) {
  RankWitness w;
  w.kind = kind;
  w.rank = static_cast<std::int32_t>(rank);
  w.source = "rank_" + std::to_string(rank) + ".log";
  w.text = text;
  return w;
}

// What logs say: the ranks that waited longest complain, the others were told to dump, and whoever
// was killed may be named.
void add_witnesses(const SimulatedJob& job, const Machine& machine, const RingSettings& rings,
                   SimulatorRng& rng, SimulatedFlight& flight) {
  const std::int64_t timeout = timeout_ns(machine, rings);
  for (std::size_t rank = 0; rank < job.topology.ranks; ++rank) {
    if (is_gone(job, rank)) {
      constexpr WitnessKind kEnds[] = {WitnessKind::host_oom_killed, WitnessKind::killed,
                                       WitnessKind::crashed, WitnessKind::exception};
      flight.witnesses.push_back(witness(kEnds[draw(rng, 0, 3)], rank, "the process ended"));
      continue;
    }
    const std::vector<SimulatedCall>& calls = machine.calls(rank);
    const auto waits = std::find_if(calls.begin(), calls.end(), [](const SimulatedCall& c) {
      return c.done_ns == kNever && !c.action->batched;
    });
    if (waits == calls.end()) continue;
    const std::int64_t at = waits->created_ns + std::int64_t{rings.timeout_ms} * 1'000'000;
    const bool own = at - timeout < 1'000'000'000;
    RankWitness w = witness(own ? WitnessKind::collective_timeout : WitnessKind::dump_signal, rank,
                            own ? "watchdog caught a timeout" : "told to dump");
    if (own) w.seq = waits->seq;
    if (own) w.group = job.topology.groups[waits->action->group].name;
    w.at = wall_from_ns(std::min(at, timeout) + kSimulationStartNs +
                        rings.host_offsets_ns[job.topology.host(rank)]);
    flight.witnesses.push_back(w);
  }
}

// The CPU runs ahead of what hangs; a ring that lost what its rank waits in would prove nothing.
std::size_t entries_to_keep(const SimulatedJob& job, const Machine& machine, std::int64_t at_ns) {
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < job.topology.ranks; ++rank) {
    const std::vector<SimulatedCall>& calls = machine.calls(rank);
    std::size_t visible = calls.size(), first = visible;
    while (visible > 0 && calls[visible - 1].created_ns > at_ns) --visible;
    for (std::size_t i = visible; i-- > 0;) {
      if (calls[i].done_ns > at_ns) first = i;
    }
    most = std::max(most, visible - std::min(visible, first));
  }
  return most;
}

void write_dumps(const SimulatedJob& job, const Machine& machine, RingSettings rings,
                 std::int64_t at_ns, SimulatedFlight& flight) {
  const std::size_t needed = entries_to_keep(job, machine, at_ns) + 10;
  if (needed > rings.entries) rings.entries = needed > 200 ? 2000 : 200;
  for (std::size_t rank = 0; rank < job.topology.ranks; ++rank) {
    if (is_gone(job, rank)) continue;
    flight.dumps.push_back(make_dump(job, machine, rings, rank, at_ns));
  }
}

// Saves the work of drawing a job in vain.
bool fits(FaultKind fault, TopologyKind topology) {
  const bool stages = topology == TopologyKind::pp_dp || topology == TopologyKind::tp_pp_dp;
  const bool one_group =
      topology == TopologyKind::world_fsdp || topology == TopologyKind::world_ddp;
  switch (fault) {
    case FaultKind::p2p_order:
    case FaultKind::p2p_link:
      return stages;
    case FaultKind::order:
      return !one_group;
    default:
      return true;
  }
}

// A rank that never called anything in the group where others wait for it looks like one that
// makes that group.
bool called_in_all_groups(const PlantedFault& fault, const SimulatedJob& job,
                          const Machine& machine) {
  for (const std::size_t rank : fault.culprits) {
    std::set<std::size_t> called;
    for (const SimulatedCall& c : machine.calls(rank)) called.insert(c.action->group);
    for (std::size_t group = 0; group < job.topology.groups.size(); ++group) {
      if (called.count(group) == 0 && waits_in(group, rank, job, machine)) return false;
    }
  }
  return true;
}

void describe(const PlantedFault& fault, const SimulatedJob& job, const Machine& machine,
              SimulatedFlight& flight) {
  flight.fault = fault.kind;
  flight.culprits.assign(fault.culprits.begin(), fault.culprits.end());
  flight.culprit_group = job.topology.groups[fault.group].description;
  flight.accepted = fault.accepted;
  flight.topology = job.topology.text;
  const bool stuck = fault.kind == FaultKind::hang || fault.kind == FaultKind::dataloader_stall;
  if (stuck && called_in_all_groups(fault, job, machine)) {
    std::erase(flight.accepted, FlightVerdictKind::comm_init);
  }
}

// Nothing: the fault has no place in the job that was drawn, or does not show.
std::optional<SimulatedFlight> try_fault(FaultKind kind, SimulatorRng rng) {
  const auto topology = static_cast<TopologyKind>(draw(rng, 0, kTopologyKinds - 1));
  if (!fits(kind, topology)) return std::nullopt;
  SimulatedJob job = draw_job(topology, kind == FaultKind::comm_init, rng);
  RingSettings rings = draw_rings(job.topology, rng);
  const std::optional<PlantedFault> fault = plant_fault(kind, job, rng);
  if (!fault) return std::nullopt;
  Machine machine(job, fault->broken, fault->equal_bytes_pass, rng);
  machine.run();
  if (!fault_shows(*fault, job, machine)) return std::nullopt;
  // Only the status of the groups tells a call that never came back.
  if (kind == FaultKind::in_launch && rings.version == "2.2") rings.version = "2.10";
  if (kind == FaultKind::comm_init && draw_percent(rng, 50)) {
    rings.creates_last_group = fault->culprits.front();
  }
  SimulatedFlight flight;
  describe(*fault, job, machine, flight);
  const bool silent = kind == FaultKind::silent;
  write_dumps(job, machine, rings,
              silent ? after_change_ns(*fault, job, machine) : timeout_ns(machine, rings), flight);
  if (!silent && draw_percent(rng, 40)) add_witnesses(job, machine, rings, rng, flight);
  return flight;
}

std::optional<SimulatedFlight> try_two_faults(SimulatorRng rng) {
  constexpr FaultKind kKinds[] = {FaultKind::hang, FaultKind::crash, FaultKind::dtype,
                                  FaultKind::size, FaultKind::op};
  SimulatedJob job =
      draw_job(static_cast<TopologyKind>(draw(rng, 0, kTopologyKinds - 1)), false, rng);
  const RingSettings rings = draw_rings(job.topology, rng);
  const std::optional<PlantedFault> first = plant_fault(kKinds[draw(rng, 0, 4)], job, rng);
  const std::optional<PlantedFault> second = plant_fault(kKinds[draw(rng, 0, 4)], job, rng);
  if (!first || !second || first->culprits == second->culprits) return std::nullopt;
  if (first->culprits.size() > 1 || second->culprits.size() > 1) return std::nullopt;
  Machine machine(job, std::nullopt, false, rng);
  machine.run();
  if (!fault_shows(*first, job, machine) || !fault_shows(*second, job, machine)) {
    return std::nullopt;
  }
  SimulatedFlight flight, other;
  describe(*first, job, machine, flight);
  describe(*second, job, machine, other);
  flight.culprits.push_back(other.culprits.front());
  std::sort(flight.culprits.begin(), flight.culprits.end());
  for (const FlightVerdictKind also : other.accepted) {
    std::erase(flight.accepted, also);
    flight.accepted.push_back(also);
  }
  write_dumps(job, machine, rings, timeout_ns(machine, rings), flight);
  return flight;
}

// One rank fetches its data late at each step, or computes slowly.
std::optional<SimulatedFlight> try_straggler(SimulatorRng rng) {
  SimulatedJob job =
      draw_job(static_cast<TopologyKind>(draw(rng, 0, kTopologyKinds - 1)), false, rng);
  RingSettings rings = draw_rings(job.topology, rng);
  const std::size_t rank = draw(rng, 0, job.topology.ranks - 1);
  // Where the CPU runs ahead for several steps a late start is made up for; a later stage of a
  // pipeline waits for the first one anyway.
  if (job.settings.sync_every > 1 || job.topology.places[rank].stage > 0) return std::nullopt;
  const bool slow_kernels = job.topology.stages == 1 && draw_percent(rng, 30);
  const auto late_ns = static_cast<std::int64_t>(draw(rng, 20, 60)) * 1'000'000;
  for (Action& a : job.programs[rank]) {
    if (slow_kernels && a.kind == ActionKind::gpu) a.ns *= 3;
    if (!slow_kernels && a.step_start) a.ns += late_ns;
  }
  rings.entries = std::max<std::size_t>(rings.entries, 200);
  if (slow_kernels) rings.timing = true;  // nothing else can tell
  Machine machine(job, std::nullopt, false, rng);
  machine.run();
  SimulatedFlight flight;
  flight.culprits = {static_cast<int>(rank)};
  flight.accepted = {FlightVerdictKind::straggler};
  flight.topology = job.topology.text;
  write_dumps(job, machine, rings, machine.end_ns() + 1, flight);
  return flight;
}

template <class Try>
SimulatedFlight first_success(std::uint64_t seed, const Try& attempt) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    std::optional<SimulatedFlight> flight = attempt(rng_of(seed, i));
    if (flight) return std::move(*flight);
  }
  MUSTER_CHECK(false, "no job that was drawn has a place for this fault");
  return {};
}

}  // namespace

SimulatedFlight simulate_fault(FaultKind kind, std::uint64_t seed) {
  // Another kind with the same seed is another job.
  const std::uint64_t own = seed * kFaultKinds + static_cast<std::uint64_t>(kind);
  return first_success(own, [kind](SimulatorRng rng) { return try_fault(kind, rng); });
}

SimulatedFlight simulate_two_faults(std::uint64_t seed) {
  return first_success(seed, try_two_faults);
}

SimulatedFlight simulate_straggler(std::uint64_t seed) {
  return first_success(seed, try_straggler);
}

SimulatedFlight simulate_healthy(std::uint64_t seed) {
  SimulatorRng rng = rng_of(seed, 0);
  const SimulatedJob job =
      draw_job(static_cast<TopologyKind>(draw(rng, 0, kTopologyKinds - 1)), false, rng);
  const RingSettings rings = draw_rings(job.topology, rng);
  Machine machine(job, std::nullopt, false, rng);
  machine.run();
  SimulatedFlight flight;
  flight.topology = job.topology.text;
  // While a call is on its way somewhere, or soon after.
  const std::vector<SimulatedCall>& calls = machine.calls(draw(rng, 0, job.topology.ranks - 1));
  const SimulatedCall& call = calls[draw(rng, calls.size() / 5, calls.size() - 1)];
  const auto later = static_cast<std::int64_t>(draw(rng, 0, 20'000'000));
  write_dumps(job, machine, rings, call.created_ns + later, flight);
  return flight;
}

SimulatedFlight simulate_flight(std::uint64_t seed) {
  SimulatorRng rng = rng_of(seed, UINT64_MAX - 1);
  return simulate_fault(static_cast<FaultKind>(draw(rng, 0, kFaultKinds - 1)), seed);
}

}  // namespace muster
