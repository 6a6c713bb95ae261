#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/flight/dump.h"
#include "tests/support/flight_machine.h"

// What the recorders of a SIMULATED job hold at one moment, as the values of its dumps. Part of
// flight_simulator.h.

namespace muster {

struct RingSettings {
  std::size_t entries = 2000;  // the ring keeps so many
  bool timing = false;         // "started" and durations are known
  bool frames = true;
  std::string version = "2.10";
  std::int32_t timeout_ms = 600'000;
  std::vector<std::int64_t> host_offsets_ns;      // what each host's clock adds to the true one
  std::vector<std::int64_t> watchdog_phases_ns;   // of each rank, below 100 ms
  std::optional<std::size_t> creates_last_group;  // this rank knows the last group without a call
};

RingSettings draw_rings(const SimulatedTopology& topology, SimulatorRng& rng);

// True clock at the start of the simulation, as ns since the epoch.
inline constexpr std::int64_t kSimulationStartNs = 1'780'000'000'000'000'000;

// The dump of `rank`, written `at_ns` after the start.
FlightDump make_dump(const SimulatedJob& job, const Machine& machine, const RingSettings& rings,
                     std::size_t rank, std::int64_t at_ns);

}  // namespace muster
