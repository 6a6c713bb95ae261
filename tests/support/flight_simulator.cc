#include "tests/support/flight_simulator.h"

#include <algorithm>

#include "base/check.h"
#include "tests/support/flight_rings.h"

namespace muster {
namespace {

// Seeds that lie side by side must not make jobs that look alike.
SimulatorRng rng_of(std::uint64_t seed, std::uint64_t stream) {
  return SimulatorRng((seed + 1) * 0x9E3779B97F4A7C15U ^ (stream + 1) * 0xD1B54A32D192ED03U);
}

// When the first watchdog gives up: the oldest call that is not done has waited for so long.
std::int64_t timeout_ns(const SimulatedJob& job, const Machine& machine,
                        const RingSettings& rings) {
  std::int64_t oldest = machine.end_ns();
  for (std::size_t rank = 0; rank < job.topology.ranks; ++rank) {
    for (const SimulatedCall& c : machine.calls(rank)) {
      if (c.done_ns == kNever) oldest = std::min(oldest, c.created_ns);
    }
  }
  return oldest + std::int64_t{rings.timeout_ms} * 1'000'000;
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

void write_dumps(const SimulatedJob& job, const Machine& machine, const RingSettings& rings,
                 std::int64_t at_ns, SimulatedFlight& flight) {
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
  flight.fault = kind;
  flight.culprits.assign(fault->culprits.begin(), fault->culprits.end());
  flight.culprit_group = job.topology.groups[fault->group].description;
  flight.accepted = fault->accepted;
  flight.topology = job.topology.text;
  const bool silent = kind == FaultKind::silent;
  write_dumps(job, machine, rings,
              silent ? after_change_ns(*fault, job, machine) : timeout_ns(job, machine, rings),
              flight);
  return flight;
}

}  // namespace

SimulatedFlight simulate_fault(FaultKind kind, std::uint64_t seed) {
  for (std::uint64_t attempt = 0; attempt < 2000; ++attempt) {
    std::optional<SimulatedFlight> flight = try_fault(kind, rng_of(seed, attempt));
    if (flight) return std::move(*flight);
  }
  MUSTER_CHECK(false, "no job has a place for this fault");
  return {};
}

SimulatedFlight simulate_flight(std::uint64_t seed) {
  SimulatorRng rng = rng_of(seed, UINT64_MAX - 1);
  return simulate_fault(static_cast<FaultKind>(draw(rng, 0, kFaultKinds - 1)), seed);
}

}  // namespace muster
