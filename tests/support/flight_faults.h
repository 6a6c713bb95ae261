#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/flight/verdict.h"
#include "tests/support/flight_machine.h"

// Plants one fault into the programs of a SIMULATED job. Part of flight_simulator.h.

namespace muster {

enum class FaultKind : std::uint8_t {
  hang,              // stuck in Python before a call; now and then a whole host
  dataloader_stall,  // the same, where the data of a step is fetched
  crash,             // the process is gone and leaves no dump
  in_launch,         // recorded, and never back from the call
  comm_init,         // stuck while a new group is made
  early_exit,        // out of data: left the loop for the last save
  dtype,
  size,
  op,          // another collective at one place
  skipped_op,  // a call that only this rank leaves out
  extra_op,    // a call that only this rank makes
  order,       // two groups in the opposite order
  p2p_order,   // a stage that sends first where its peer does
  link,        // a collective that the network does not carry
  p2p_link,    // a message that it does not carry
  silent,      // types of equal width mixed up: completes, with garbage
};
inline constexpr std::size_t kFaultKinds = 16;

std::string_view fault_name(FaultKind kind);

struct PlantedFault {
  FaultKind kind = FaultKind::hang;
  std::vector<std::size_t> culprits;        // sorted; empty: nobody's fault
  std::size_t group = 0;                    // in which the first trouble is
  std::vector<FlightVerdictKind> accepted;  // what a true verdict may be called
  std::optional<BrokenLink> broken;
  std::optional<CallOf> changed;  // the call in question: rank and action
  bool equal_bytes_pass = false;
};

// Nothing: this job has no place for such a fault (the job may be changed all the same).
std::optional<PlantedFault> plant_fault(FaultKind kind, SimulatedJob& job, SimulatorRng& rng);

// Whether the run came out as the fault says: the run hangs because of it, and each culprit is
// waited for by somebody, so that the dumps can tell.
bool fault_shows(const PlantedFault& fault, const SimulatedJob& job, const Machine& machine);

}  // namespace muster
