#include "tests/support/flight_waits.h"

#include <algorithm>

namespace muster {
namespace {

bool lacks(const SimulatedCollective& c, std::size_t rank, const Machine& machine) {
  if (c.done) return false;
  bool others = false;
  for (const CallOf& of : c.calls) {
    if (of.rank != rank) others = true;
    if (of.rank == rank && machine.calls(rank)[of.call].launched_ns != kNever) return false;
  }
  return others;
}

}  // namespace

bool waits_in(std::size_t group, std::size_t rank, const SimulatedJob& job,
              const Machine& machine) {
  const std::vector<std::size_t>& members = job.topology.groups[group].ranks;
  if (!std::binary_search(members.begin(), members.end(), rank)) return false;
  const std::vector<SimulatedCollective>& all = machine.collectives(group);
  return std::any_of(all.begin(), all.end(),
                     [&](const SimulatedCollective& c) { return lacks(c, rank, machine); });
}

bool somebody_waits_for(std::size_t rank, const SimulatedJob& job, const Machine& machine) {
  for (std::size_t group = 0; group < job.topology.groups.size(); ++group) {
    if (waits_in(group, rank, job, machine)) return true;
  }
  const std::vector<SimulatedMessage>& messages = machine.messages();
  return std::any_of(messages.begin(), messages.end(), [&](const SimulatedMessage& m) {
    if (m.done || (m.send && m.receive)) return false;
    const CallOf& end = m.send ? *m.send : *m.receive;
    return machine.calls(end.rank)[end.call].action->peer == rank;
  });
}

}  // namespace muster
