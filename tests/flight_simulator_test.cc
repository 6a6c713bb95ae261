#include "tests/support/flight_simulator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/flight_machine.h"

namespace muster {
namespace {

class Topologies : public testing::TestWithParam<int> {};

TEST_P(Topologies, AHealthyJobComesToItsEnd) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SimulatorRng rng(seed);
    const SimulatedJob job = draw_job(static_cast<TopologyKind>(GetParam()), seed % 2 == 0, rng);
    Machine machine(job, std::nullopt, false, rng);
    machine.run();
    EXPECT_FALSE(machine.hangs()) << job.topology.text << " seed " << seed;
    for (std::size_t rank = 0; rank < job.topology.ranks; ++rank) {
      ASSERT_TRUE(machine.finished(rank)) << job.topology.text << " seed " << seed << " " << rank;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Flight, Topologies, testing::Range(0, static_cast<int>(kTopologyKinds)));

class Faults : public testing::TestWithParam<int> {};

TEST_P(Faults, ComeOut) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SimulatedFlight flight = simulate_fault(static_cast<FaultKind>(GetParam()), seed);
    EXPECT_FALSE(flight.dumps.empty());
    EXPECT_FALSE(flight.accepted.empty());
  }
}
INSTANTIATE_TEST_SUITE_P(Flight, Faults, testing::Range(0, static_cast<int>(kFaultKinds)),
                         [](const auto& row) {
                           return std::string(fault_name(static_cast<FaultKind>(row.param)));
                         });

}  // namespace
}  // namespace muster
